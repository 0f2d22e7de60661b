import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DEFENDER_LEDGERS } from '../../../src/api/generated/resources.ts';
import type { DefenderLedger } from '../../../src/api/generated/types.ts';
import { LEDGER, PRINCIPAL_COMPONENTSET, PRINCIPAL_DEFENDER } from '../../../src/api/names.ts';
import { EXIT } from '../../../src/cli/errors.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { runGrantCommand } from '../../support/grant/command.ts';
import { createGranter, type Granter } from '../../support/granter.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { type AgentCluster, createAgentCluster, RUNS, startsIn } from './agent-cluster.ts';

let installed: InstalledServer;
let cluster: AgentCluster;
let kubeconfig: string;
beforeAll(async () => {
  // With every policy: nothing here may write a grant that the cluster would refuse.
  installed = await startInstalledServer();
  cluster = createAgentCluster(installed);
  kubeconfig = await installed.server.kubeconfigFor({ user: 'root', groups: ['system:masters'] });
});
afterEach(() => cluster.end());
afterAll(() => installed?.stop());

async function granter(): Promise<Granter> {
  const [defender, componentset] = [await signIn(PRINCIPAL_DEFENDER), await signIn(PRINCIPAL_COMPONENTSET)];
  return createGranter({ defender, componentset, clock: createSystemClock() });
}

async function signIn(principal: string): Promise<Client> {
  const { user, groups } = createPrincipal(principal);
  return await installed.as(user, groups);
}

async function grant(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const io = testIo();
  const code = await runGrantCommand(io, [...args, '--kubeconfig', kubeconfig]);
  return { code, out: io.stdout, err: io.stderr };
}

describe('a grant by hand', () => {
  it('AGT-23 lets an update of class Restart run that waited for it, under every policy', async () => {
    const directory = tempFolder('agent');
    const [v1, v2] = [await cluster.publish('1.0', RUNS), await cluster.publish('1.1', RUNS)];
    await cluster.declare('n1', v1, false);
    await cluster.startAgent('n1', directory);
    await cluster.reported('n1', { state: 'WaitingForGrant' });
    expect((await (await granter()).grantEntries('n1')).entries).toEqual(['proxy']);
    await cluster.reported('n1', { state: 'Committed', currentRef: 'proxy-1.0', ready: true });

    await cluster.declare('n1', v2, false);
    const waits = await cluster.reported('n1', { state: 'WaitingForGrant', currentRef: 'proxy-1.0' });
    expect(waits.waiting).toMatchObject({ reason: 'GrantNeeded' });
    expect(startsIn(directory)).toEqual(['started 1.0']);
    const granted = await grant('n1');
    expect(granted).toMatchObject({ code: EXIT.ok });
    expect(granted.out).toMatch(/^n1: grant g-hand-\d+ until \S+ for proxy\n$/);
    await cluster.reported('n1', { state: 'Committed', currentRef: 'proxy-1.1', ready: true });
    expect(startsIn(directory)).toEqual(['started 1.0', 'started 1.1']);
    expect((await grant('n1')).out).toContain('nothing to do');
  });

  it('ends the grant, and replaces no grant of another holder that may still act', async () => {
    await cluster.declare('n2', await cluster.publish('2.0', RUNS), false);
    const job = { kind: 'RemedyOperationJob', name: 'n2-disk' } as const;
    await (await granter()).record('n2', { holder: job, action: 'CleanDisk', risk: 'None' });
    const refused = await grant('n2');
    expect(refused.code).toBe(EXIT.held);
    expect(refused.err).toContain('machine n2 has the grant g-hand-');
    expect(refused.err).toContain('npm run grant -- n2 --settle');
    expect(await grant('n2', '--settle')).toMatchObject({
      code: EXIT.ok,
      out: expect.stringMatching(/^n2: grant g-hand-\d+ is settled\n$/) as string,
    });
    const { spec } = await installed.server.client.get<DefenderLedger>(DEFENDER_LEDGERS, { name: LEDGER });
    expect(spec.grants['n2']).toMatchObject({ state: 'Settled', outcome: 'Succeeded' });
    expect((await grant('n2')).code).toBe(EXIT.ok);
    const { components } = (await cluster.machine('n2')).spec;
    expect(components[0]?.grant).toMatchObject({ id: expect.stringContaining('g-hand-') as string });
  });

  it('explains what is wrong with the command line or the cluster', async () => {
    const missing = await grant('n9');
    expect(missing.code).toBe(EXIT.badInput);
    expect(missing.err).toContain('there is no Machine n9');
    const help = await grant('--help');
    expect(help.code).toBe(EXIT.ok);
    expect(help.out).toContain('npm run grant -- n1');
    expect((await grant()).code).toBe(EXIT.usage);
    expect((await grant('n1', '--minutes', '0')).code).toBe(EXIT.usage);
  });
});
