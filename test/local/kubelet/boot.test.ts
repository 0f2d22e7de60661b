import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSandboxHost } from '../../../src/agent/host/sandbox/host.ts';
import { readBootIdentity } from '../../../src/local/kubelet/boot.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { tempFolder } from '../../support/temp.ts';

describe('readBootIdentity', () => {
  it('is that of the sandbox that the process belongs to, as its agent reports it', async () => {
    const directory = tempFolder('sandbox');
    const host = createSandboxHost({ directory, clock: createSystemClock() });
    await host.open();
    try {
      const identity = await readBootIdentity({ KUBENODE_SANDBOX_UNIT: `${directory}//kubelet` });
      expect(identity).toEqual({
        bootId: await host.node.bootId(),
        machineId: await host.node.machineId(),
      });
    } finally {
      await host.close();
    }
  });

  it('changes with each boot of the sandbox', async () => {
    const directory = tempFolder('sandbox');
    mkdirSync(join(directory, '.sandbox'));
    const ids: string[] = [];
    for (const bootId of ['first', 'second']) {
      writeFileSync(join(directory, '.sandbox/boot.json'), JSON.stringify({ bootId }));
      ids.push((await readBootIdentity({ KUBENODE_SANDBOX_UNIT: `${directory}//kubelet` })).bootId);
    }
    expect(ids).toEqual(['first', 'second']);
  });

  it('is that of the machine outside of a sandbox', async () => {
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    expect((await readBootIdentity({})).bootId).toBe(bootId);
  });
});
