import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../temp.ts';
import { NODE_PATHS } from './breakage.ts';
import { CLOCK_PROGRAM } from './clock.ts';
import { observationScript, parseObservation } from './observation.ts';

it('reads files, folders, links and what is missing by a script of the shell', () => {
  const folder = tempFolder('observed');
  const path = (name: string): string => join(folder, name);
  writeFileSync(path('file'), 'text');
  chmodSync(path('file'), 0o640);
  mkdirSync(path('folder'));
  chmodSync(path('folder'), 0o755);
  symlinkSync('file', path('link'));
  const paths = ['file', 'folder', 'link', 'missing'].map(path);
  const text = execFileSync('/bin/bash', ['-c', observationScript({ paths, units: [] }, folder)], {
    encoding: 'utf8',
  });
  const { files, answers, freeKiB } = parseObservation(text);
  expect([...files.keys()]).toEqual(paths.slice(0, 3));
  expect(files.get(path('file'))).toMatchObject({
    type: 'File',
    mode: '0640',
    content: '982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1',
  });
  expect(files.get(path('folder'))).toMatchObject({ type: 'Folder', mode: '0755' });
  expect(files.get(path('link'))).toEqual({ type: 'Link', mode: '-', owner: '-', content: 'file' });
  expect([...answers.keys()]).toEqual(['kubelet', 'containerd']);
  expect(freeKiB).toBeGreaterThan(0);
});

it('reads what the script prints of units', () => {
  const lines = [
    'unit\tkubelet\tenabled\tactive\tno\t0\t42\tT\tabc  -',
    'unit\tssh\tmasked\tinactive\tyes\t9\t0\t-\t-',
    'answer\tkubelet\tno',
    'free\t 12',
  ];
  expect(parseObservation(lines.join('\n'))).toEqual({
    files: new Map(),
    units: new Map([
      [
        'kubelet',
        {
          enabled: 'enabled',
          active: 'active',
          needsReload: false,
          lastExit: '0',
          pid: '42',
          isSuspended: true,
          program: 'abc',
        },
      ],
      [
        'ssh',
        {
          enabled: 'masked',
          active: 'inactive',
          needsReload: true,
          lastExit: '9',
          pid: '0',
          isSuspended: false,
          program: '-',
        },
      ],
    ]),
    answers: new Map([['kubelet', false]]),
    freeKiB: 12,
  });
});

it('shifts the clock of a program by a file, while it runs, and leaves other dates alone', () => {
  const folder = tempFolder('clock');
  const [clock, module] = [join(folder, 'clock'), join(folder, 'clock.mjs')];
  writeFileSync(module, CLOCK_PROGRAM.replace(NODE_PATHS.clock, clock));
  const program = `
    const before = Date.now();
    require('node:fs').writeFileSync(${JSON.stringify(clock)}, '86400000');
    setTimeout(() => {
      const hours = (time) => Math.round((time - before) / 3_600_000);
      const date = new Date();
      console.log(hours(Date.now()), hours(date.getTime()), date instanceof Date, new Date(5).getTime());
    }, 150);`;
  const text = execFileSync(process.execPath, ['--import', module, '-e', program], { encoding: 'utf8' });
  expect(text).toBe('24 24 true 5\n');
});
