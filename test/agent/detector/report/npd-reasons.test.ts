import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { monitorFilesOf, readNpdReasons } from '../../../../src/agent/detector/report/npd-reasons.ts';
import { tempFolder } from '../../../support/temp.ts';

const KERNEL = '--config.system-log-monitor=/config/kernel.json';

describe('reasons of node-problem-detector', () => {
  it.each([
    [['--config.system-log-monitor=/a.json,/b.json'], ['/a.json', '/b.json']],
    [['--config.custom-plugin-monitor', '/c.json', '--v=2'], ['/c.json']],
    [
      ['--system-log-monitors=a.json', '--custom-plugin-monitors=b=1.json'],
      ['a.json', 'b=1.json'],
    ],
    [['--config.system-stats-monitor=/s.json', '--port=1'], []],
    [['--config.system-log-monitor='], []],
  ])('finds the files of monitors in the command line: %j', (args, files) => {
    expect(monitorFilesOf(args)).toEqual(files);
  });

  it('AGT-72 are those of the rules of all its files, as the process reads them', async () => {
    const plugins = '--config.custom-plugin-monitor=config/ntp.json';
    const npd = addProcess([KERNEL, plugins], {
      'root/config/kernel.json': ['A', 'B'],
      'cwd/config/ntp.json': ['C'],
    });
    const other = addProcess([KERNEL], { 'root/config/kernel.json': ['D'] });
    expect([...((await readNpdReasons([npd, other])) ?? [])]).toEqual(['A', 'B', 'C', 'D']);
  });

  it.each([['--enable-k8s-exporter=false'], ['--k8s-exporter-write-events=false']])(
    'AGT-72 are not one when it writes no Events: %s',
    async (flag) => {
      expect(await readNpdReasons([addProcess([KERNEL, flag], {})])).toEqual(new Set());
    },
  );

  it('are unknown without a process, and when one of its files cannot be read', async () => {
    expect(await readNpdReasons([])).toBeUndefined();
    expect(await readNpdReasons([addProcess([KERNEL], {})])).toBeUndefined();
    expect(await readNpdReasons([addProcess(['--v=2'], {})])).toBeUndefined();
    const large = addProcess([KERNEL], { 'root/config/kernel.json': ['A'.repeat(1024 ** 2)] });
    expect(await readNpdReasons([large])).toBeUndefined();
    const pipe = addProcess([KERNEL], { 'root/config/other.json': [] });
    execFileSync('mkfifo', [`${pipe}/root/config/kernel.json`]);
    expect(await readNpdReasons([pipe])).toBeUndefined();
    const known = addProcess([KERNEL], { 'root/config/kernel.json': ['A'] });
    expect(await readNpdReasons([known, pipe])).toBeUndefined();
  });
});

/** Its files have rules with these reasons. */
function addProcess(args: readonly string[], files: Readonly<Record<string, readonly string[]>>): string {
  const folder = tempFolder('process');
  writeFileSync(`${folder}/cmdline`, ['/node-problem-detector', ...args, ''].join('\0'));
  for (const [path, reasons] of Object.entries(files)) {
    mkdirSync(`${folder}/${path.slice(0, path.lastIndexOf('/'))}`, { recursive: true });
    writeFileSync(`${folder}/${path}`, JSON.stringify({ rules: reasons.map((reason) => ({ reason })) }));
  }
  return folder;
}
