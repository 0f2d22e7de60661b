import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createSandboxPorts, type SandboxPorts } from '../../../../src/agent/host/sandbox/ports.ts';
import { tempFolder } from '../../../support/temp.ts';

const DECLARED = [
  { name: 'serve', port: 80 },
  { name: 'metrics', port: 81 },
];
/** Where these sandboxes begin: of one test, all in the same place. */
let seed = process.pid;
const opened: SandboxPorts[] = [];

function sandbox(folder = tempFolder('ports')): SandboxPorts {
  const ports = createSandboxPorts(join(folder, 'ports.json'), seed);
  opened.push(ports);
  return ports;
}

async function portsOf(ports: SandboxPorts): Promise<readonly number[]> {
  return [...(await ports.assign('proxy', DECLARED)).values()];
}

describe('the ports of a sandbox', () => {
  afterEach(async () => {
    seed += 100;
    for (const each of opened.splice(0)) await each.release();
  });

  it('are of no other sandbox that chooses at the same time, though no program listens there yet', async () => {
    const chosen = await Promise.all(Array.from({ length: 8 }, () => portsOf(sandbox())));
    expect(new Set(chosen.flat())).toHaveLength(16);
  });

  it('stay those of the sandbox when its agent starts again', async () => {
    const folder = tempFolder('ports');
    const first = sandbox(folder);
    const ports = await portsOf(first);
    await first.release();
    const again = sandbox(folder);
    expect(await portsOf(again)).toEqual(ports);
    const other = await portsOf(sandbox());
    expect(other.filter((port) => ports.includes(port))).toEqual([]);
  });

  it('differ from one component to the next', async () => {
    const ports = sandbox();
    const proxy = await portsOf(ports);
    const [log] = (await ports.assign('log', [{ name: 'serve', port: 80 }])).values();
    expect(proxy).not.toContain(log);
    expect(await portsOf(ports)).toEqual(proxy);
  });
});
