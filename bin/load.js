// Runs dist/podexit.cjs, compiled ahead where that can be had by V8's code cache. One was made with the build, for the Node
// that built it; under any other Node a first run makes one in the user's cache folder. Node's own compile cache serves the
// rest: of this file it would keep no more than the outermost function, since it keeps what is compiled before anything has
// been called. Whatever is wrong with a cache, it is left out.
'use strict';
const fs = require('node:fs');
const { dirname, join } = require('node:path');
const { pathToFileURL } = require('node:url');
const vm = require('node:vm');

/** In stack traces, and so in every cache: no folder, since a cache that was built elsewhere would tell that machine's. */
const filename = 'podexit.cjs';
exports.filename = filename;

exports.load = function load(file) {
  // ASCII, as the build sees to.
  const start = scriptOf(fs.readFileSync(file, 'latin1'), file).runInThisContext();
  if (hasCompileCache()) require('node:module').enableCompileCache();
  // Node's own modules are required: the first import would load what ES modules need.
  start(require, (name) => (name.startsWith('node:') ? own(name) : import(pathToFileURL(join(dirname(file), name)))));
};

/** From 22.8 on. Asked of the version, since an older Node would load a module for nothing. */
function hasCompileCache() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 8);
}

async function own(name) {
  return require(name);
}

/** One cache is tried, not one after the other: V8 takes a second one for a script it has just compiled, and makes no use of it. */
function scriptOf(source, file) {
  const cache = cacheFile(source);
  const cachedData = (cache && readOwn(cache)) ?? readOwn(file.replace(/\.cjs$/, '.v8'));
  const script = new vm.Script(source, { filename, cachedData });
  if (cache && script.cachedDataRejected !== false) keepAtEnd(script, cache);
  return script;
}

/** V8 forgets the code of what is called once, which is most of a start, unless it is told to keep it. */
function keepAtEnd(script, cache) {
  const { setFlagsFromString } = require('node:v8');
  setFlagsFromString('--no-flush-bytecode');
  process.once('exit', (code) => {
    setFlagsFromString('--flush-bytecode');
    keep(script, cache, code);
  });
}

/**
 * One for each build, Node with its flags (V8 takes no cache that was made under others), and kind of run: a cache holds the
 * functions that the run which made it has called.
 */
function cacheFile(source) {
  const { env, platform, version, arch, argv } = process;
  if (env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  const home = env.HOME ? join(env.HOME, '.cache') : undefined;
  const base = platform === 'win32' ? env.LOCALAPPDATA : env.XDG_CACHE_HOME || home;
  const build = /^\/\/([0-9a-f]{16})\n/.exec(source)?.[1];
  if (!base || !build) return undefined;
  const flags = [...process.execArgv, env.NODE_OPTIONS ?? ''].join(' ').trim();
  const kind = ['replay', 'demo', 'check', 'explain', 'completion', '__complete'].find((one) => one === argv[2]);
  return join(
    base,
    'kubectl-podexit',
    `${version}-${arch}-${kind ?? 'trace'}${flags && `-${checksum(flags)}`}-${build}.v8`,
  );
}

const checksum = (text) => [...text].reduce((sum, one) => (sum * 31 + one.codePointAt(0)) >>> 0, 0).toString(16);

/** Of a file that this user or root wrote: what somebody else wrote is not run. */
function readOwn(file) {
  try {
    const handle = fs.openSync(file, 'r');
    try {
      const { uid } = fs.fstatSync(handle);
      return process.getuid === undefined || uid === 0 || uid === process.getuid()
        ? fs.readFileSync(handle)
        : undefined;
    } finally {
      fs.closeSync(handle);
    }
  } catch {
    return undefined;
  }
}

/** Not after an error, which has called little of the program. Builds that are gone leave nothing behind. */
function keep(script, file, code) {
  if (code === 1) return;
  const folder = dirname(file);
  const fresh = `${file}.${process.pid}`;
  const [, kind, build] = /([^/\\]*-)([0-9a-f]{16})\.v8$/.exec(file);
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    fs.writeFileSync(fresh, script.createCachedData(), { mode: 0o600 });
    fs.renameSync(fresh, file);
    for (const name of fs.readdirSync(folder))
      if (name.startsWith(kind) && /\.v8(\.\d+)?$/.test(name) && !name.includes(build)) fs.rmSync(join(folder, name));
  } catch {
    // No folder for it, or no room: the next start is as slow as this one was.
    remove(fresh);
  }
}

function remove(file) {
  try {
    fs.rmSync(file, { force: true });
  } catch {
    // Never written.
  }
}
