import { describe, expect, it } from 'vitest';
import { createMemoryHost, type MemoryHost } from '../../../src/agent/host/memory/host.ts';
import { SLOTS_FILE } from '../../../src/agent/layout.ts';
import { beginUpgrade, endUpgrade, readSlots, recordUpgrade } from '../../../src/agent/upgrade/slot-store.ts';
import { agentUpgrade } from '../../support/agent/upgrades.ts';
import { NOW, virtualClock } from '../../support/virtual-clock.ts';

const UPGRADE = agentUpgrade();
const VERDICT = {
  key: 'k',
  version: '1.1',
  result: 'RolledBack',
  program: '/old',
  at: NOW.toISOString(),
} as const;

function host(): MemoryHost {
  return createMemoryHost({ clock: virtualClock(), artifacts: new Map() });
}

describe('AGT-43 the file of the slots', () => {
  it('begins an attempt once while it is under way', async () => {
    const { files } = host();
    const advanced = agentUpgrade({ step: 'Probation' });
    await recordUpgrade(files, advanced);
    await beginUpgrade(files, UPGRADE);
    expect(await readSlots(files)).toEqual({ upgrade: advanced });
  });

  it('does not begin an attempt again that has ended', async () => {
    const { files } = host();
    await endUpgrade(files, VERDICT);
    await beginUpgrade(files, UPGRADE);
    expect(await readSlots(files)).toEqual({ last: VERDICT });
  });

  it('begins the next attempt, and keeps how the last one ended', async () => {
    const { files } = host();
    await endUpgrade(files, VERDICT);
    const next = agentUpgrade({ key: 'next' });
    await beginUpgrade(files, next);
    expect(await readSlots(files)).toEqual({ upgrade: next, last: VERDICT });
  });

  it('counts as missing when it is damaged', async () => {
    const { files } = host();
    await files.write(SLOTS_FILE, new TextEncoder().encode('{"upgr'), { mode: '0600', owner: 'root:root' });
    expect(await readSlots(files)).toEqual({});
  });
});
