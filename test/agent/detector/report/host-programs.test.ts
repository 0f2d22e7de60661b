import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readProgramNames } from '../../../../src/agent/detector/report/host-programs.ts';
import { tempFolder } from '../../../support/temp.ts';

describe('host programs', () => {
  it('AGT-72 lists the names of all processes, as the kernel keeps them', async () => {
    const proc = tempFolder('proc');
    addProcess(proc, '7', 'kubelet');
    addProcess(proc, '8', 'node-problem-de');
    addProcess(proc, '9', 'kubelet');
    expect([...(await readProgramNames(proc))].toSorted()).toEqual(['kubelet', 'node-problem-de']);
  });

  it('is not disturbed by a process that ends meanwhile, or by other files', async () => {
    const proc = tempFolder('proc');
    mkdirSync(`${proc}/9`);
    writeFileSync(`${proc}/uptime`, '1 1');
    expect([...(await readProgramNames(proc))]).toEqual([]);
  });
});

function addProcess(proc: string, pid: string, name: string): void {
  mkdirSync(`${proc}/${pid}`);
  writeFileSync(`${proc}/${pid}/comm`, `${name}\n`);
}
