// V8's code cache of the start, kept for the next run: compiled code, so it is treated as code. It lies in the user's own
// cache folder, in a folder and a file that nobody else may write, is written anew and never over what is there, and is
// used only if its hash and its name (build, Node, platform, architecture, flags, kind of run) fit.
'use strict';
const createHash = (name) => require('node:crypto').createHash(name);
const fs = require('node:fs');
const { join } = require('node:path');

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_DIRECTORY = 0 } = fs.constants;
const hashBytes = 32;

/** The cache for this program and this kind of run; undefined where there is none that can be trusted. */
exports.readCache = function readCache(source) {
  const place = placeOf(source);
  if (place === undefined) return undefined;
  try {
    if (!isOwnFolder(place.folder)) return undefined;
    const handle = fs.openSync(join(place.folder, place.name), O_RDONLY | O_NOFOLLOW);
    try {
      if (!isOwn(fs.fstatSync(handle))) return undefined;
      const bytes = fs.readFileSync(handle);
      const data = bytes.subarray(hashBytes);
      return hashOf(place, data).equals(bytes.subarray(0, hashBytes)) ? data : undefined;
    } finally {
      fs.closeSync(handle);
    }
  } catch {
    return undefined;
  }
};

/** V8 forgets the code of what is called once, which is most of a start, unless it is told to keep it. */
exports.keepAtEnd = function keepAtEnd(script, source) {
  const place = placeOf(source);
  if (place === undefined) return;
  process.once('exit', (code) => {
    // A cache bears the flags under which it was made.
    // After an error little of the program was called.
    if (code !== 1) keep(place, script.createCachedData());
  });
};

/** Exclusive: a file or link of that name that somebody has planted is neither followed nor written over. */
function keep(place, data) {
  const fresh = join(place.folder, `${place.name}.${process.pid}`);
  try {
    fs.mkdirSync(place.folder, { recursive: true, mode: 0o700 });
    if (!isOwnFolder(place.folder)) return;
    const handle = fs.openSync(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      fs.writeSync(handle, hashOf(place, data));
      fs.writeSync(handle, data);
    } finally {
      fs.closeSync(handle);
    }
    fs.renameSync(fresh, join(place.folder, place.name));
    removeOtherBuilds(place);
  } catch {
    // No folder for it, or no room: the next start is as slow as this one was.
  }
}

function removeOtherBuilds({ folder, name, build }) {
  const kind = name.slice(0, -`${build}.v8`.length);
  for (const found of fs.readdirSync(folder))
    if (found.startsWith(kind) && /^[0-9a-f]{16}\.v8(\.\d+)?$/.test(found.slice(kind.length)) && !found.includes(build))
      fs.rmSync(join(folder, found));
}

/** One for each build, Node with its flags (V8 takes no cache that was made under others), and kind of run. */
function placeOf(source) {
  const { env, platform, version, arch, argv } = process;
  if (env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  const home = env.HOME ? join(env.HOME, '.cache') : undefined;
  const base = platform === 'win32' ? env.LOCALAPPDATA : env.XDG_CACHE_HOME || home;
  const build = /^\/\/([0-9a-f]{16})\n/.exec(source)?.[1];
  if (!base || !build) return undefined;
  const flags = [...process.execArgv, env.NODE_OPTIONS ?? ''].join(' ').trim();
  const kind = ['replay', 'demo', 'check', 'explain', '__complete'].find((one) => one === argv[2]) ?? 'trace';
  const words = [platform, arch, version, kind, ...(flags === '' ? [] : [shortHash(flags)]), build];
  return { folder: join(base, 'kubectl-podexit'), name: `${words.join('-')}.v8`, build };
}

const shortHash = (text) => createHash('sha256').update(text).digest('hex').slice(0, 8);

/** Of the name too: a cache that was renamed is another's. */
const hashOf = ({ name }, data) => createHash('sha256').update(name).update(data).digest();

function isOwnFolder(folder) {
  const handle = fs.openSync(folder, O_RDONLY | O_NOFOLLOW | O_DIRECTORY);
  try {
    const found = fs.fstatSync(handle);
    return found.isDirectory() && isOwn(found);
  } finally {
    fs.closeSync(handle);
  }
}

/** This user's, and nobody else may write it. On Windows the folder's own rights say so (%LOCALAPPDATA%). */
function isOwn({ uid, mode }) {
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}
