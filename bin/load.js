// Runs dist/podexit.cjs: the start of the program in one file, whose parts call each other through `need`. Other parts lie
// in dist/parts. V8 keeps the compiled form of the start in the user's own cache folder (cache.js); without it a start is
// slower, and nothing else changes.
'use strict';
const fs = require('node:fs');
const { join, dirname } = require('node:path');
const { pathToFileURL } = require('node:url');
const vm = require('node:vm');
const { readCache, keepAtEnd } = require('./cache.js');

exports.load = function load(file) {
  // ASCII, as the build sees to.
  const source = fs.readFileSync(file, 'latin1');
  const cachedData = readCache(source);
  const script = new vm.Script(source, { filename: 'podexit.cjs', cachedData });
  if (cachedData === undefined || script.cachedDataRejected) keepAtEnd(script, source);
  const parts = script.runInThisContext();
  const url = pathToFileURL(file).href;
  const loaded = new Map();

  function need(name) {
    const part = /^\.\/([\w-]+\.js)$/.exec(name)?.[1];
    if (part === undefined) return require(name);
    const known = loaded.get(part);
    if (known) return known.exports;
    const module = { exports: {} };
    loaded.set(part, module);
    (parts[part] ?? read(part)).call(undefined, module.exports, need, module, url);
    return module.exports;
  }

  const read = (part) =>
    vm.runInThisContext(fs.readFileSync(join(dirname(file), 'parts', part), 'latin1'), { filename: part });

  need('./podexit.js');
};
