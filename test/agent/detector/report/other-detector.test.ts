import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isOtherDetectorRunning } from '../../../../src/agent/detector/report/other-detector.ts';
import { tempFolder } from '../../../support/temp.ts';

describe('other detector', () => {
  it('AGT-72 finds a process of node-problem-detector by its name', async () => {
    const proc = tempFolder('proc');
    addProcess(proc, '7', 'kubelet');
    expect(await isOtherDetectorRunning(proc)).toBe(false);
    addProcess(proc, '8', 'node-problem-de');
    expect(await isOtherDetectorRunning(proc)).toBe(true);
  });

  it('is not disturbed by a process that ends meanwhile, or by other files', async () => {
    const proc = tempFolder('proc');
    mkdirSync(`${proc}/9`);
    writeFileSync(`${proc}/uptime`, '1 1');
    expect(await isOtherDetectorRunning(proc)).toBe(false);
  });
});

function addProcess(proc: string, pid: string, name: string): void {
  mkdirSync(`${proc}/${pid}`);
  writeFileSync(`${proc}/${pid}/comm`, `${name}\n`);
}
