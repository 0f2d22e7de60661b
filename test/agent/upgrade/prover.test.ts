import { describe, expect, it } from 'vitest';
import { createMemoryHost, type MemoryHost } from '../../../src/agent/host/memory/host.ts';
import { openJournal } from '../../../src/agent/journal/journal.ts';
import type { StepRecord } from '../../../src/agent/journal/record.ts';
import {
  AGENT_COMPONENT,
  JOURNAL_FILE,
  PROOF_FILE,
  SELF_TEST_FILE,
  targetFile,
} from '../../../src/agent/layout.ts';
import type { UpgradeProof } from '../../../src/agent/upgrade/proof.ts';
import { readProof } from '../../../src/agent/upgrade/proof-store.ts';
import { createProver, type ProverOptions } from '../../../src/agent/upgrade/prover.ts';
import { drive, present } from '../../support/agent/component-driver.ts';
import { V1 } from '../../support/agent/component-input.ts';
import { artifactUrl, programOf } from '../../support/agent/targets.ts';
import { agentUpgrade } from '../../support/agent/upgrades.ts';
import { NOW, virtualClock } from '../../support/virtual-clock.ts';

const { launch, replaces: identity } = agentUpgrade();
const HANDED_OVER: StepRecord = {
  type: 'Step',
  component: AGENT_COMPONENT,
  at: NOW.toISOString(),
  step: 'Stopping',
  entry: 'sha256:new',
  direction: 'Forward',
  to: 'sha256:new',
  bootId: 'boot-1',
  boots: 0,
};
const HEALTHY = { isOnline: () => true, machine: () => ({}) as never };

/** A host on which an earlier agent installed a component and handed over. */
async function hostAfterHandOver(): Promise<MemoryHost> {
  const artifacts = new Map([[artifactUrl('1.0'), programOf('1.0')]]);
  const host = createMemoryHost({ clock: virtualClock(), artifacts });
  await drive(host, present(V1));
  await (await openJournal(host.files)).append(HANDED_OVER);
  return host;
}

interface Facts extends Partial<Pick<ProverOptions, 'api' | 'certificateNotAfter'>> {
  readonly hasWrittenLease?: boolean;
}

async function prove(host: MemoryHost, facts: Facts = {}): Promise<UpgradeProof | undefined> {
  const { hasWrittenLease = true, ...options } = facts;
  const report = createProver({
    host,
    api: HEALTHY,
    journal: await openJournal(host.files),
    self: { program: '/new', launch, identity, healthySeconds: 60, uptimeMs: () => 7000 },
    clock: virtualClock(),
    certificateNotAfter: () => new Date('2030-02-01T00:00:00Z'),
    ...options,
  });
  await report({ hasWrittenLease });
  return await readProof(host.files);
}

async function edit(host: MemoryHost, path: string, content: string): Promise<void> {
  await host.files.write(path, new TextEncoder().encode(content), { mode: '0600', owner: 'root:root' });
}

describe('AGT-43 what a new agent proves', () => {
  it('is healthy when it is connected, wrote its Lease, has a certificate and reads what is installed', async () => {
    const host = await hostAfterHandOver();
    const key = `sha256:new ${NOW.toISOString()}`;
    expect(await prove(host)).toEqual({ key, pid: identity.pid, atMs: 7000, missing: [] });
    expect(await host.files.stat(SELF_TEST_FILE)).toBeUndefined();
  });

  it.each<[string, Facts, RegExp]>([
    ['without the API server', { api: { ...HEALTHY, isOnline: () => false } }, /Machine was not read/],
    ['without its Machine', { api: { ...HEALTHY, machine: () => undefined } }, /Machine was not read/],
    ['before its Lease is written', { hasWrittenLease: false }, /Lease was not written/],
    ['without a certificate', { certificateNotAfter: () => undefined }, /no certificate/],
    ['with a certificate that ended', { certificateNotAfter: () => NOW }, /no certificate/],
  ])('is not healthy %s', async (_, facts, missing) => {
    const proof = await prove(await hostAfterHandOver(), facts);
    expect(proof?.missing).toEqual([expect.stringMatching(missing)]);
  });

  it('is not healthy when it cannot read what an earlier agent installed', async () => {
    const host = await hostAfterHandOver();
    await host.files.remove(targetFile(V1.id));
    expect((await prove(host))?.missing).toEqual([
      'self-test failed: the version in force of proxy is unknown',
    ]);
  });

  it('is not healthy when it cannot ask for a unit that an earlier agent installed', async () => {
    const host = await hostAfterHandOver();
    host.units.status = () => Promise.reject(new Error('systemd does not answer'));
    expect((await prove(host))?.missing).toEqual(['self-test failed: systemd does not answer']);
  });

  it('is not healthy when a file has other content than it wrote', async () => {
    const host = await hostAfterHandOver();
    const read = host.files.read.bind(host.files);
    host.files.read = async (path) => (path === SELF_TEST_FILE ? new Uint8Array() : await read(path));
    expect((await prove(host))?.missing).toEqual([
      `self-test failed: ${SELF_TEST_FILE} has other content than was written`,
    ]);
  });

  it('is not healthy when it cannot read a line of the journal', async () => {
    const host = await hostAfterHandOver();
    const journal = new TextDecoder().decode(await host.files.read(JOURNAL_FILE));
    await edit(host, JOURNAL_FILE, `damaged\n${journal}`);
    expect((await prove(host))?.missing).toEqual(['self-test failed: 1 lines of the journal cannot be read']);
  });

  it('proves nothing when it finds no journal', async () => {
    const host = await hostAfterHandOver();
    await host.files.remove(JOURNAL_FILE);
    expect(await prove(host)).toBeUndefined();
    expect(await host.files.stat(PROOF_FILE)).toBeUndefined();
  });
});
