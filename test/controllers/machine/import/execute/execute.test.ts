/** Whole imports over an API server and hosts in memory: each step, each failure, and a controller that is killed anywhere. */
import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../../../src/api/generated/resources.ts';
import { LABEL_AGENT_BLOCKED } from '../../../../../src/api/names.ts';
import { conditionOf, conditionStatus } from '../../../../../src/kube/objects/conditions.ts';
import { OsError } from '../../../../../src/os/errors.ts';
import { HOST_KEY, sshError } from '../../../../support/import-hosts.ts';
import {
  CERTIFICATE,
  type ImportBed,
  importBed,
  importedMachine,
  joinNode,
  sshSecret,
} from './import-bed.ts';

const STEPS = ['connect', 'inspect', 'install', 'request', 'deliver'] as const;
const SECOND = 1000;

/** Time passes, and the cluster and the agent of the host do their part. */
async function live(bed: ImportBed, seconds: number): Promise<void> {
  for (let n = 0; n < seconds; n += 1) {
    bed.sign();
    if (hasCertificate(bed)) bed.beat();
    await bed.advance(SECOND); // oxlint-disable-line no-await-in-loop -- second by second
  }
}

function hasCertificate(bed: ImportBed): boolean {
  const address = bed.machine()?.spec.import?.address ?? '';
  return bed.hosts.host(address).certificate !== undefined;
}

function isReady(bed: ImportBed): boolean {
  return conditionStatus(bed.machine()?.status?.conditions, 'AgentReady') === 'True';
}

async function removed(bed: ImportBed, seconds: number): Promise<void> {
  bed.delete(MACHINES, 'm');
  await bed.advance(seconds * SECOND);
}

async function started(bed: ImportBed): Promise<ImportBed> {
  await bed.start();
  await bed.advance(3 * SECOND);
  return bed;
}

function conditionsOf(bed: ImportBed): Record<string, string> {
  const types = [
    'HostTrusted',
    'PreflightPassed',
    'AgentInstalled',
    'CertificateIssued',
    'AgentReady',
    'SSHCredentialsNeeded',
  ];
  const { conditions } = bed.machine()?.status ?? {};
  return Object.fromEntries(
    types.flatMap((type) => {
      const found = conditionOf(conditions, type);
      return found ? [[type, `${found.status} ${found.reason}`]] : [];
    }),
  );
}

describe('an import', () => {
  it('MAC-10 takes a host from its address to Ready, one step after the other', async () => {
    const bed = await started(importBed());
    const journal: string[] = [];
    for (let n = 0; n < 12; n += 1) {
      journal.push(bed.tell(), ...bed.hosts.calls().map((call) => `  ${call}`));
      journal.push(...bed.sign().map((text) => `  ${text}`));
      await bed.advance(SECOND); // oxlint-disable-line no-await-in-loop -- second by second
    }
    const lines = journal.filter((line, n) => line !== journal[n - 1]);
    expect(lines).toMatchInlineSnapshot(`
      [
        "Importing Registering: RequestPending",
        "  connect 10.0.0.1",
        "  inspect 10.0.0.1",
        "  connect 10.0.0.1",
        "  install 10.0.0.1",
        "  connect 10.0.0.1",
        "  request 10.0.0.1",
        "  Approve: first certificate of the agent of Machine m, requested by its import",
        "Importing Registering: NoHeartbeat",
        "  connect 10.0.0.1",
        "  deliver 10.0.0.1",
        "Importing Registering: NoHeartbeat",
      ]
    `);
    expect(bed.hosts.host('10.0.0.1')).toMatchObject({ keys: 1, certificate: CERTIFICATE, version: '1.0.0' });
    bed.beat();
    await bed.advance(2 * SECOND);
    bed.beat();
    await bed.advance(2 * SECOND);
    expect(conditionsOf(bed)).toMatchInlineSnapshot(`
      {
        "AgentInstalled": "True AsWanted",
        "AgentReady": "True AsWanted",
        "CertificateIssued": "True InUse",
        "HostTrusted": "True Pinned",
        "PreflightPassed": "True AsWanted",
        "SSHCredentialsNeeded": "False AgentReports",
      }
    `);
    joinNode(bed);
    await bed.advance(5 * SECOND);
    expect(bed.tell()).toBe('Ready');
    expect(bed.machine()?.status?.import).toMatchObject({
      agentEpoch: 0,
      machineID: expect.any(String) as string,
    });
    expect(bed.machine()?.status?.preflight?.results?.length).toBeGreaterThan(20);
  });

  it('MAC-16 opens no SSH connection after AgentReady, also when the Secret is deleted and the agent is silent later', async () => {
    const bed = await started(importBed());
    await live(bed, 20);
    expect(conditionsOf(bed)).toMatchObject({
      AgentReady: 'True AsWanted',
      SSHCredentialsNeeded: 'False AgentReports',
    });
    bed.hosts.calls();
    bed.secret.current = undefined;
    bed.apply({ ...importedMachine('m'), metadata: { name: 'm', labels: { [LABEL_AGENT_BLOCKED]: 'no' } } });
    await bed.advance(300 * SECOND);
    expect(conditionsOf(bed)).toMatchObject({ AgentReady: 'Unknown AgentSilent' });
    expect(bed.hosts.calls()).toEqual([]);
  });

  it.each(STEPS)(
    'MAC-06 MAC-10 resumes after a kill of the controller in the step %s, and does nothing twice with effect',
    async (step) => {
      const bed = importBed();
      bed.hosts.fail('10.0.0.1', step, 'hang');
      const first = await bed.start();
      for (let n = 0; n < 10; n += 1) {
        bed.sign();
        await bed.advance(SECOND); // oxlint-disable-line no-await-in-loop -- second by second
      }
      expect(bed.hosts.calls().at(-1)).toBe(`${step} 10.0.0.1`);
      await first.kill();
      bed.hosts.fail('10.0.0.1', step, undefined);
      await bed.start();
      await live(bed, 20);
      expect(isReady(bed)).toBe(true);
      expect(bed.hosts.host('10.0.0.1')).toMatchObject({ keys: 1, certificate: CERTIFICATE });
    },
  );

  it('MAC-06 ends in the same way after a crash at any write', async () => {
    for (let n = 1; n < 40; n += 1) {
      for (const when of ['before', 'after'] as const) {
        /* oxlint-disable no-await-in-loop -- one life after the other */
        const bed = importBed();
        const first = await bed.start({ n, when });
        await live(bed, 14);
        if (!first.crashed) return;
        await first.kill();
        await bed.start();
        await live(bed, 20);
        /* oxlint-enable no-await-in-loop */
        const { keys, certificate } = bed.hosts.host('10.0.0.1');
        const ready = isReady(bed);
        expect({ n, when, keys, certificate, ready }).toEqual({
          n,
          when,
          keys: 1,
          certificate: CERTIFICATE,
          ready: true,
        });
      }
    }
    throw new Error('the import has more writes than expected');
  });
});

describe('what keeps a host from being imported', () => {
  it.each([
    ['the host is down', 'connect', sshError('Unreachable'), 'Importing Connecting: Unreachable'],
    ['it has another key', 'connect', sshError('HostKeyMismatch'), 'Stalled Connecting: HostKeyMismatch'],
    ['it refuses our key', 'connect', sshError('AuthRefused'), 'Stalled Connecting: AuthRefused'],
    ['the SSH key is broken', 'connect', sshError('InvalidKey'), 'Importing Connecting: InvalidKey'],
    ['sudo asks for a password', 'install', sshError('SudoPassword'), 'Stalled Bootstrapping: SudoPassword'],
    [
      'the disk is full',
      'install',
      new OsError<'NoSpace'>('NoSpace', 'full'),
      'Importing Bootstrapping: NoSpace',
    ],
    [
      'it belongs to another Machine',
      'install',
      new OsError<'HostInUse'>('HostInUse', 'no'),
      'Stalled Bootstrapping: HostInUse',
    ],
    [
      'the preflight cannot be read',
      'inspect',
      sshError('ScriptFailed'),
      'Importing Preflight: ScriptFailed',
    ],
    ['the key is not made', 'request', sshError('ScriptFailed'), 'Importing Registering: ScriptFailed'],
    [
      'the certificate is refused',
      'deliver',
      sshError('ScriptFailed'),
      'Importing Registering: ScriptFailed',
    ],
    [
      'a mistake of the program',
      'install',
      new TypeError('undefined is not a function'),
      'Importing Bootstrapping: ImportFailed',
    ],
  ] as const)('MAC-04 names what holds up an import: %s', async (_, call, error, expected) => {
    const isFinal = expected.startsWith('Stalled');
    const bed = importBed();
    bed.hosts.fail('10.0.0.1', call, error);
    await started(bed);
    await live(bed, 8);
    expect(bed.tell()).toBe(expected);
    bed.hosts.calls();
    bed.hosts.fail('10.0.0.1', call, undefined);
    await live(bed, 60);
    // A failure that only a person can solve is not repeated.
    expect(bed.hosts.calls().length > 0).toBe(!isFinal);
    if (isFinal) bed.apply(importedMachine('m', {}, { retryToken: 'again' }));
    await live(bed, 30);
    expect(isReady(bed)).toBe(true);
  });

  it('MAC-11 is not tried again by the next process after a host key that differs', async () => {
    const bed = importBed();
    bed.hosts.fail('10.0.0.1', 'connect', sshError('HostKeyMismatch'));
    const first = await bed.start();
    await bed.advance(5 * SECOND);
    await first.stop();
    bed.hosts.calls();
    await bed.start();
    await bed.advance(600 * SECOND);
    expect([bed.tell(), bed.hosts.calls()]).toEqual(['Stalled Connecting: HostKeyMismatch', []]);
  });

  it('MAC-04 is a missing Secret, by name, until it is there', async () => {
    const bed = importBed();
    bed.secret.current = undefined;
    await started(bed);
    expect(bed.tell()).toBe('Importing Connecting: CredentialsMissing');
    expect(bed.machine()?.status?.waiting?.blocker).toEqual({
      kind: 'Secret',
      name: 'rack7-ssh',
      namespace: 'kubenode-system',
    });
    bed.secret.current = sshSecret({});
    await bed.advance(20 * SECOND);
    expect(bed.machine()?.status?.waiting?.message).toContain(
      'does not permit Machine m to use it as an SSH key',
    );
    expect(bed.hosts.calls()).toEqual([]);
    bed.secret.current = sshSecret();
    await live(bed, 30);
    expect(isReady(bed)).toBe(true);
  });

  it('MAC-13 MAC-19 is a failed check, a Node that runs there, or nothing that was skipped', async () => {
    const bed = importBed();
    bed.hosts.facts('10.0.0.1', { swap: ['/dev/sda2'] });
    await started(bed);
    expect(bed.tell()).toBe('Stalled Preflight: PreflightFailed');
    bed.hosts.facts('10.0.0.1', { process: 'kubelet' });
    bed.apply(importedMachine('m', {}, { retryToken: '2' }));
    await bed.advance(3 * SECOND);
    expect(bed.tell()).toBe('Stalled Preflight: ExistingNode');
    bed.hosts.facts('10.0.0.1', { swap: ['/dev/sda2'] });
    bed.apply(importedMachine('m', { skipChecks: ['Swap'] }));
    await live(bed, 20);
    expect(isReady(bed)).toBe(true);
  });

  it('MAC-13 is dryRun, which changes nothing on the host and stalls nothing', async () => {
    const bed = await started(importBed([importedMachine('m', { dryRun: true })]));
    await live(bed, 700);
    expect(bed.tell()).toBe('Importing Bootstrapping: DryRun');
    expect(new Set(bed.hosts.calls())).toEqual(new Set(['connect 10.0.0.1', 'inspect 10.0.0.1']));
    bed.apply(importedMachine('m'));
    await live(bed, 20);
    expect(isReady(bed)).toBe(true);
  });

  it('MAC-11 is trusted once: the first key is recorded, and given to each later connection', async () => {
    const bed = await started(
      importBed([importedMachine('m', { hostKeyPolicy: 'TrustOnFirstUse', hostKeys: [] })]),
    );
    expect(bed.machine()?.status?.import?.hostKey).toEqual(HOST_KEY);
    expect(conditionsOf(bed)['HostTrusted']).toBe('True TrustedOnFirstUse');
  });

  it('MAC-21 is another Machine with the same address: the younger one gives way, until the first is deleted', async () => {
    const bed = await started(importBed([importedMachine('m')]));
    bed.hosts.fail('10.0.0.1', 'install', 'hang');
    bed.apply(importedMachine('n'));
    await bed.advance(5 * SECOND);
    expect(bed.tell('n')).toBe('Stalled Connecting: DuplicateHost');
    expect(bed.machine('n')?.status?.waiting?.blocker).toEqual({ kind: 'Machine', name: 'm' });
    expect(bed.tell('m')).not.toContain('Duplicate');
  });

  it('MAC-21 is another Machine whose host has the same machine id under another address', async () => {
    const bed = importBed([importedMachine('m')]);
    const twin = { 'machine-id': 'c'.repeat(32) };
    bed.hosts.facts('10.0.0.1', twin);
    bed.hosts.facts('10.0.0.2', twin);
    await started(bed);
    bed.apply(importedMachine('n', { address: '10.0.0.2' }));
    await bed.advance(5 * SECOND);
    expect(bed.tell('n')).toBe('Stalled Preflight: DuplicateHost');
    expect(bed.hosts.host('10.0.0.2').version).toBeUndefined();
  });

  it('is a hold: a held machine gets no SSH connection', async () => {
    const bed = importBed([importedMachine('m', {}, { hold: { reason: 'audit', scope: 'All' } })]);
    await started(bed);
    await live(bed, 10);
    expect([bed.tell(), bed.hosts.calls()]).toEqual(['Importing Connecting: HeldAll', []]);
  });

  it('a new spec ends a step that hangs, and begins another attempt', async () => {
    const bed = importBed();
    bed.hosts.fail('10.0.0.1', 'connect', 'hang');
    await started(bed);
    bed.apply(importedMachine('m', { address: '10.0.0.2' }));
    await live(bed, 15);
    expect(isReady(bed)).toBe(true);
    expect(bed.hosts.host('10.0.0.2').certificate).toBe(CERTIFICATE);
  });
});

describe('an agent without a valid certificate', () => {
  it('gets another one over SSH once spec.agentEpoch is raised, and SSH ends again', async () => {
    const bed = await started(importBed());
    await live(bed, 20);
    await bed.advance(300 * SECOND);
    bed.hosts.calls();
    bed.apply(importedMachine('m', {}, { agentEpoch: 1 }));
    await bed.advance(SECOND);
    expect(conditionsOf(bed)['SSHCredentialsNeeded']).toBe('True Importing');
    await live(bed, 20);
    expect(bed.hosts.calls()).toEqual(
      ['connect', 'install', 'request', 'connect', 'deliver'].map((call) => `${call} 10.0.0.1`),
    );
    expect(bed.hosts.host('10.0.0.1').keys).toBe(2);
    expect(conditionsOf(bed)).toMatchObject({
      AgentReady: 'True AsWanted',
      SSHCredentialsNeeded: 'False AgentReports',
    });
  });
});

describe('200 hosts at once', () => {
  it('MAC-10 are imported in less than 5 minutes, while 10 of them hang', async () => {
    const names = Array.from({ length: 200 }, (_, n) => `m${n}`);
    const bed = importBed(names.map((name, n) => importedMachine(name, { address: `10.0.1.${n}` })));
    for (let n = 0; n < 10; n += 1) bed.hosts.fail(`10.0.1.${n * 20}`, 'connect', 'hang');
    await bed.start();
    for (let n = 0; n < 60; n += 1) {
      bed.sign();
      await bed.advance(SECOND); // oxlint-disable-line no-await-in-loop -- second by second
    }
    const imported = names.filter((_, n) => bed.hosts.host(`10.0.1.${n}`).certificate === CERTIFICATE);
    expect(imported).toHaveLength(190);
    expect(bed.hosts.most()).toBeLessThanOrEqual(50);
  });
});

describe('the deletion of a machine that is being imported', () => {
  it('MAC-20 ends the step under way, and releases the host by spec.deletion.cleanup', async () => {
    const deletion = {
      drain: 'Respect',
      drainTimeoutSeconds: 60,
      timeoutSeconds: 600,
      cleanup: 'Wipe',
    } as const;
    const bed = importBed([importedMachine('m', {}, { deletion })]);
    bed.hosts.fail('10.0.0.1', 'request', 'hang');
    await started(bed);
    await bed.advance(5 * SECOND);
    bed.hosts.calls();
    await removed(bed, 10);
    expect(bed.hosts.calls()).toEqual(['connect 10.0.0.1', 'release 10.0.0.1']);
    expect(bed.hosts.host('10.0.0.1').released).toBe('Wipe');
    expect(bed.machine()).toBeUndefined();
  });

  it('MAC-20 needs no permission for credentials of registries that the Secret got since', async () => {
    const bed = await started(importBed());
    await live(bed, 20);
    const secret = sshSecret();
    const data = { ...(secret['data'] as object), 'registries.json': Buffer.from('{}').toString('base64') };
    bed.secret.current = { ...secret, data };
    await removed(bed, 10);
    expect(bed.hosts.host('10.0.0.1').released).toBe('Restore');
    expect(bed.machine()).toBeUndefined();
  });

  it('MAC-20 ends without a host that was never changed', async () => {
    const bed = importBed();
    bed.hosts.fail('10.0.0.1', 'connect', 'hang');
    await started(bed);
    bed.hosts.calls();
    await removed(bed, 5);
    expect([bed.machine(), bed.hosts.calls()]).toEqual([undefined, []]);
  });

  it('MAC-20 waits for a host that is down until the time limit, and then ends with CleanupIncomplete', async () => {
    const deletion = {
      drain: 'Respect',
      drainTimeoutSeconds: 60,
      timeoutSeconds: 600,
      cleanup: 'Restore',
    } as const;
    const bed = importBed([importedMachine('m', {}, { deletion })]);
    await started(bed);
    await live(bed, 4);
    bed.hosts.fail('10.0.0.1', 'connect', sshError('Unreachable'));
    await removed(bed, 300);
    expect(bed.machine()?.status?.waiting).toMatchObject({ reason: 'Unreachable' });
    await bed.advance(330 * SECOND);
    expect(bed.machine()).toBeUndefined();
    expect(
      bed.log.lines.filter((line) => JSON.stringify(line).includes('host cleanup incomplete')),
    ).toHaveLength(1);
  });

  it('MAC-20 does not wait for a Secret that was deleted after the agent reported', async () => {
    const bed = await started(importBed());
    await live(bed, 20);
    bed.secret.current = undefined;
    await removed(bed, 10);
    expect(bed.machine()).toBeUndefined();
  });
});
