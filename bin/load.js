// Runs dist/podexit.cjs: the start of the program in one file, and parts in dist/parts, which are read when they are needed
// (`need`). V8's compiled form of each of these files is kept in the user's own cache folder (cache.js); without it a start
// is slower, and nothing else changes.
'use strict';
const { readFileSync } = require('node:fs');
const { join, dirname } = require('node:path');
const { pathToFileURL } = require('node:url');
const vm = require('node:vm');
const { openCache } = require('./cache.js');

exports.load = function load(file) {
  const start = readFileSync(file, 'utf8');
  // V8 compares only the length of a source with its cache, so the first line names the build.
  const cache = openCache(/^\/\/([0-9a-f]{16})\n/.exec(start)?.[1]);
  const run = (source, filename) => {
    const cachedData = cache?.read(filename);
    const script = new vm.Script(source, { filename, cachedData });
    if (cachedData === undefined || script.cachedDataRejected) cache?.keepAtEnd(filename, script);
    return script.runInThisContext();
  };
  const url = pathToFileURL(file).href;
  const loaded = new Map();
  /** `exportsOf` is called when another part first needs this one, as most of the start's exports are never needed. */
  const keep = (part, exportsOf) => loaded.set(part, exportsOf);

  function need(name) {
    const part = /^\.\/([\w-]+\.js)$/.exec(name)?.[1];
    if (part === undefined) return require(name);
    if (!loaded.has(part)) read(part).call(undefined, need, url, keep);
    const known = loaded.get(part);
    if (typeof known !== 'function') return known;
    const exports = known();
    loaded.set(part, exports);
    return exports;
  }

  const read = (part) => run(readFileSync(join(dirname(file), 'parts', part), 'utf8'), part);

  run(start, 'podexit.cjs').call(undefined, need, url, keep);
};
