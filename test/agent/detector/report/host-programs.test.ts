import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readHostPrograms } from '../../../../src/agent/detector/report/host-programs.ts';
import { tempFolder } from '../../../support/temp.ts';

describe('host programs', () => {
  it('AGT-72 lists the names of all processes, as the kernel keeps them', async () => {
    const proc = tempFolder('proc');
    addProcess(proc, '7', 'kubelet');
    addProcess(proc, '9', 'kubelet');
    const { names, npdReasons } = await readHostPrograms(proc);
    expect([...names]).toEqual(['kubelet']);
    expect(npdReasons).toBeUndefined();
  });

  it('AGT-72 knows the Events of node-problem-detector', async () => {
    const proc = tempFolder('proc');
    addProcess(proc, '8', 'node-problem-de');
    mkdirSync(`${proc}/8/root/config`, { recursive: true });
    writeFileSync(`${proc}/8/cmdline`, '/npd\0--config.system-log-monitor=/config/kernel.json\0');
    writeFileSync(`${proc}/8/root/config/kernel.json`, JSON.stringify({ rules: [{ reason: 'OOMKilling' }] }));
    const { names, npdReasons = [] } = await readHostPrograms(proc);
    expect([...names]).toEqual(['node-problem-de']);
    expect([...npdReasons]).toEqual(['OOMKilling']);
  });

  it('is not disturbed by a process that ends meanwhile, or by other files', async () => {
    const proc = tempFolder('proc');
    mkdirSync(`${proc}/9`);
    writeFileSync(`${proc}/uptime`, '1 1');
    expect(await readHostPrograms(proc)).toEqual({ names: new Set() });
  });
});

function addProcess(proc: string, pid: string, name: string): void {
  mkdirSync(`${proc}/${pid}`);
  writeFileSync(`${proc}/${pid}/comm`, `${name}\n`);
}
