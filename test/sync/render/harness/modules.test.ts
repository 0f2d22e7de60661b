/** S20: a render cannot ask which files exist on this machine. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createFleetRepository, createTestRenderer, program } from '../../../support/fleet-repository.ts';
import { tempFolder } from '../../../support/temp.ts';
import { dataOf } from '../results.ts';

/** Each asks for a path or a package; the answer must not depend on whether it exists. */
const QUESTIONS: readonly (readonly [what: string, expression: string])[] = [
  ['require', 'require(PATH)'],
  ['require.resolve', 'require.resolve(PATH)'],
  ['require.resolve without the extension', `require.resolve(PATH.replace('.js', ''))`],
  ['require.resolve of a relative path', `require.resolve('../../../../../../../../..' + PATH)`],
  ['require.resolve with paths', `require.resolve('./' + NAME, { paths: [FOLDER] })`],
  ['require.resolve of a package with paths', `require.resolve(NAME, { paths: [FOLDER] })`],
  ['require from another folder', 'createRequire(PATH).resolve(PATH)'],
  ['require of a package from another folder', `createRequire(FOLDER + '/x').resolve(NAME)`],
  ['Module._resolveFilename', 'Module._resolveFilename(PATH)'],
  ['Module._findPath', `Module._findPath(PATH, [''])`],
  ['Module._findPath with paths', 'Module._findPath(NAME, [FOLDER])'],
  ['Module._stat', 'Module._stat(PATH)'],
  ['Module._load', 'Module._load(PATH)'],
  ['Module._readPackage', 'Module._readPackage(PATH)'],
  ['Module._extensions', `Module._extensions['.js'](new Module('x'), PATH)`],
  ['findPackageJSON', 'Module.findPackageJSON(PATH)'],
  ['findPackageJSON of a package', `Module.findPackageJSON(NAME, 'file://' + FOLDER + '/x')`],
  ['import', 'await import(PATH)'],
  ['import of a URL', `await import('file://' + PATH)`],
  [
    'import from a data URL',
    `await import('data:text/javascript,' + encodeURIComponent('import "file://' + PATH + '"'))`,
  ],
  ['import.meta.resolve', 'import.meta.resolve(PATH)'],
  ['import.meta.resolve of a URL', `import.meta.resolve('file://' + PATH)`],
  ['import.meta.resolve of a package', 'import.meta.resolve(NAME)'],
  ['a committed package.json that leads out', `require.resolve('./leads-' + KIND)`],
  ['a package of a folder above', `require.resolve('inner-' + KIND)`],
  ['existsSync', 'fs.existsSync(PATH)'],
  ['accessSync', 'fs.accessSync(PATH)'],
  ['access', 'await fs.promises.access(PATH)'],
  ['statSync', 'fs.statSync(PATH, { throwIfNoEntry: false })'],
  ['lstat', 'await fs.promises.lstat(PATH)'],
  ['realpathSync', 'fs.realpathSync(PATH)'],
  ['realpath', 'await new Promise((ok, no) => fs.realpath(PATH, (e: any) => (e ? no(e) : ok(1))))'],
  ['realpath of a URL', `fs.realpathSync(new URL('file://' + PATH))`],
  ['realpath by promise', 'await fs.promises.realpath(PATH)'],
  ['realpathSync.native', 'fs.realpathSync.native(PATH)'],
  ['readlinkSync', 'fs.readlinkSync(PATH)'],
  ['readFileSync', 'fs.readFileSync(PATH)'],
  ['openSync', 'fs.openSync(PATH)'],
  ['openAsBlob', 'await fs.openAsBlob(PATH)'],
  ['readdirSync', 'fs.readdirSync(PATH)'],
  ['readdirSync of its folder', 'fs.readdirSync(FOLDER).includes(NAME)'],
  ['opendirSync', 'fs.opendirSync(FOLDER)'],
  ['globSync', 'fs.globSync(PATH).length'],
  ['cpSync', `fs.cpSync(PATH, 'copy')`],
  ['copyFileSync', `fs.copyFileSync(PATH, 'copy')`],
  ['linkSync', `fs.linkSync(PATH, 'copy')`],
  ['renameSync', `fs.renameSync(PATH, 'copy')`],
  ['rmSync', 'fs.rmSync(PATH, { force: true })'],
  ['watch', 'fs.watch(PATH)'],
  ['watchFile', 'fs.watchFile(PATH, () => undefined)'],
  ['chdir', 'process.chdir(FOLDER)'],
  ['loadEnvFile', 'process.loadEnvFile(PATH)'],
  ['dlopen', 'process.dlopen({ exports: {} }, PATH)'],
  ['an engine of crypto', `process.getBuiltinModule('node:crypto').setEngine(PATH)`],
];

const KINDS = ['existing', 'missing'] as const;
const shared = createTestRenderer();

async function ask(): Promise<Readonly<Record<string, string>>> {
  const outside = tempFolder('outside');
  mkdirSync(join(outside, 'node_modules'));
  for (const file of ['existing.js', 'node_modules/existing.js']) {
    writeFileSync(join(outside, file), 'module.exports = 1;');
  }
  const tries = QUESTIONS.map(
    ([what, expression]) =>
      `[${JSON.stringify(what)}, async (KIND: string, NAME: string, FOLDER: string, PATH: string) => (${expression})],`,
  );
  const body = `const require = createRequire(import.meta.url);
    const fs = process.getBuiltinModule('node:fs') as any;
    const questions: [string, (...args: string[]) => Promise<unknown>][] = [${tries.join('\n')}];
    const outcomes: Record<string, string> = {};
    for (const [what, question] of questions) {
      for (const kind of ${JSON.stringify(KINDS)}) {
        const args = [kind, kind + '.js', ${JSON.stringify(outside)}, ${JSON.stringify(outside)} + '/' + kind + '.js'];
        let outcome = '';
        try { outcome = 'value: ' + String(await question(...args)); }
        catch (error) { outcome = 'error: ' + (error as any).code + ' ' + (error as any).message; }
        outcomes[what + ' ' + kind] = outcome.replaceAll(kind, 'KIND');
      }
    }`;
  const files = Object.fromEntries(
    KINDS.map((kind) => [
      `leads-${kind}/package.json`,
      JSON.stringify({ main: `../../../../../../../..${outside}/${kind}.js` }),
    ]),
  );
  const main = `import Native, { createRequire } from 'node:module';\nconst Module = Native as any;\n${program(body, 'outcomes as never')}`;
  const repository = createFleetRepository();
  // Rendered twice, in two folders: nothing in the answers may depend on them.
  repository.commit('first', { 'main.ts': main, ...files });
  const git = repository.transport;
  const { rendered } = await shared.commit({ git, commit: await git.fetch('main') });
  return dataOf(rendered) as Record<string, string>;
}

describe('a render', () => {
  let outcomes: Readonly<Record<string, string>>;
  beforeAll(async () => {
    outcomes = await ask();
  });

  it.each(QUESTIONS)('S20, SAF-20 does not learn from %s whether a file exists', (what) => {
    expect(outcomes[`${what} existing`]).toBe(outcomes[`${what} missing`]);
    expect(outcomes[`${what} existing`]).toBeDefined();
    expect(outcomes[`${what} existing`]).not.toBe('value: true');
  });
});
