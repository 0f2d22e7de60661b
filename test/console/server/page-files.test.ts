import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { readPageFiles } from '../../../src/console/server/page-files.ts';
import { tempFolder } from '../../support/temp.ts';

it('reads the files of a built page with their types', async () => {
  const folder = join(tempFolder(), 'console');
  mkdirSync(folder);
  for (const name of ['index.html', 'page.js', 'page.css']) writeFileSync(join(folder, name), name);
  const files = await readPageFiles(pathToFileURL(`${folder}/`));
  expect(
    [...files].map(([path, { type, content }]) => [path, type.split(';')[0], content.toString()]),
  ).toEqual([
    ['/', 'text/html', 'index.html'],
    ['/page.js', 'text/javascript', 'page.js'],
    ['/page.css', 'text/css', 'page.css'],
  ]);
});

it('names the command that builds a page that does not exist', async () => {
  const folder = pathToFileURL(`${tempFolder()}/missing/`);
  await expect(readPageFiles(folder)).rejects.toMatchObject({
    message: 'the page of the console is not built',
    hint: 'build it: npm run bundle:console',
  });
});
