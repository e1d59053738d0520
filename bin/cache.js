// V8's code cache of each file of the program, kept for the next run: compiled code, so it is treated as code. It lies in
// the user's own cache folder, in a folder and files that nobody else may write, is written anew and never over what is
// there, and is used only if its checksum and its name (build, Node, platform, architecture, flags, kind of run) fit. It
// saves 43 of 246 ms until the DELETE (test/packaging/start-savings.test.ts).
'use strict';
const fs = require('node:fs');
const { basename, join } = require('node:path');
const { crc32 } = require('node:zlib');

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = fs.constants;
const checksumBytes = 4;
/** A run over many pods sets other ones (src/run/group/run-live.ts), and V8 refuses a cache that was made under others. */
exports.heapDefaults = ['--heap-growing-percent=0', '--semi-space-growth-factor=2'];

/** The cache of this build for this kind of run; undefined where there can be none. */
exports.openCache = function openCache(build) {
  const place = placeOf(build);
  if (place === undefined) return undefined;
  const isTrusted = isOwnFolder(place.folder);
  const scripts = new Map();
  const nameOf = (filename) => `${place.prefix}${build}-${filename}.v8`;
  return {
    /** Undefined where there is none that can be trusted. */
    read: (filename) => (isTrusted ? read(join(place.folder, nameOf(filename))) : undefined),
    /** V8 drops the code of functions that ran once, most of a start, so the cache is made only when all has run. */
    keepAtEnd(filename, script) {
      if (scripts.size === 0)
        process.once('exit', (code) => {
          // A run that ended in an error has called little of the program.
          if (code !== 1) keep(place, build, scripts);
        });
      scripts.set(nameOf(filename), script);
    },
  };
};

function read(file) {
  try {
    const handle = fs.openSync(file, O_RDONLY | O_NOFOLLOW);
    try {
      if (!isOwn(fs.fstatSync(handle))) return undefined;
      const bytes = fs.readFileSync(handle);
      const data = bytes.subarray(checksumBytes);
      return checksumOf(basename(file), data).equals(bytes.subarray(0, checksumBytes)) ? data : undefined;
    } finally {
      fs.closeSync(handle);
    }
  } catch {
    return undefined;
  }
}

function keep({ folder, prefix }, build, scripts) {
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!isOwnFolder(folder)) return;
    exports.heapDefaults.forEach(require('node:v8').setFlagsFromString);
    for (const [name, script] of scripts) write(folder, name, script.createCachedData());
    removeOtherBuilds(folder, prefix, build);
  } catch {
    // No folder for it, or no room: the next start is as slow as this one was.
  }
}

/** Exclusive: a file or link of that name that somebody has planted is neither followed nor written over. */
function write(folder, name, data) {
  const fresh = join(folder, `${name}.${process.pid}`);
  const handle = fs.openSync(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    fs.writeSync(handle, checksumOf(name, data));
    fs.writeSync(handle, data);
  } finally {
    fs.closeSync(handle);
  }
  fs.renameSync(fresh, join(folder, name));
}

function removeOtherBuilds(folder, prefix, build) {
  for (const found of fs.readdirSync(folder)) {
    const [other] = found.startsWith(prefix) ? (/^[0-9a-f]{16}(?=[-.])/.exec(found.slice(prefix.length)) ?? []) : [];
    if (other !== undefined && other !== build) fs.rmSync(join(folder, found));
  }
}

/** One for each build, Node with its flags (V8 takes no cache that was made under others), and kind of run. */
function placeOf(build) {
  const { env, platform, version, arch, argv } = process;
  // Node 21, 22.0 and 22.1 have no crc32.
  if (env.NODE_DISABLE_COMPILE_CACHE || crc32 === undefined) return undefined;
  const home = env.HOME ? join(env.HOME, '.cache') : undefined;
  const base = platform === 'win32' ? env.LOCALAPPDATA : env.XDG_CACHE_HOME || home;
  if (!base || !build) return undefined;
  const flags = [...process.execArgv, env.NODE_OPTIONS ?? ''].join(' ').trim();
  const kind = ['replay', 'demo', 'check', 'explain', '__complete'].find((one) => one === argv[2]) ?? 'trace';
  const words = [platform, arch, version, kind, ...(flags === '' ? [] : [crc32(flags).toString(16)])];
  return { folder: join(base, 'kubectl-podexit'), prefix: `${words.join('-')}-` };
}

/**
 * Of the name too: a cache that was renamed is another's. It shows damage, and no attack: who may write the file may write a
 * fitting checksum too.
 */
function checksumOf(name, data) {
  const checksum = Buffer.alloc(checksumBytes);
  checksum.writeUInt32BE(crc32(data, crc32(name)));
  return checksum;
}

/** False also where the user may not look, such as HOME=/root in a container that runs as another user. */
function isOwnFolder(folder) {
  try {
    const found = fs.lstatSync(folder, { throwIfNoEntry: false });
    return found !== undefined && found.isDirectory() && isOwn(found);
  } catch {
    return false;
  }
}

/** This user's, and nobody else may write it. On Windows the folder's own rights say so (%LOCALAPPDATA%). */
function isOwn({ uid, mode }) {
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}
