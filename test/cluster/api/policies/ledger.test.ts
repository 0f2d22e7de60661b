/** kubenode-ledger-rules: what each write of the ledger keeps. All but the first writes are dry runs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFENDER_LEDGERS } from '../../../../src/api/generated/resources.ts';
import type { DefenderLedger, DefenderLedgerSpec, LedgerGrant } from '../../../../src/api/generated/types.ts';
import { LEDGER, POLICY_LEDGER_RULES, PRINCIPAL_DEFENDER } from '../../../../src/api/names.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { type SampleCluster, startSampleCluster } from '../sample-cluster.ts';

const SETTLED = { state: 'Settled', settledAt: '2026-11-20T07:03:00Z', outcome: 'Succeeded' } as const;
const SEQ = 'spec.seq must increase by one with each write';
const WELL_FORMED = 'notAfter of a grant must be later than issuedAt';
const FENCE = 'the fence of a new grant must be the seq of this write';
const IDENTITY = 'fence and issuedAt of a grant cannot change, and a settled grant stays settled';

let sample: SampleCluster;
let defender: Client;
/** At seq 2: n17 is started, n18 is granted, n19 is settled. */
let ledger: DefenderLedger;

beforeAll(async () => {
  sample = await startSampleCluster();
  defender = await sample.account(PRINCIPAL_DEFENDER);
  const found = await defender.get<DefenderLedger>(DEFENDER_LEDGERS, { name: LEDGER });
  const started = { ...found, spec: withGrants(found.spec, { n17: { state: 'Started' } }) };
  ledger = await defender.replace(DEFENDER_LEDGERS, started);
});
afterAll(() => sample?.stop());

type GrantChanges = Readonly<Record<string, Partial<LedgerGrant> | undefined>>;

/** With the next seq. A machine without changes loses its grant; a new one has that of n18 but for the changes. */
function withGrants(spec: DefenderLedgerSpec, changes: GrantChanges): DefenderLedgerSpec {
  const grants = { ...spec.grants };
  for (const [machine, change] of Object.entries(changes)) {
    const base = grants[machine] ?? { ...spec.grants['n18'], id: `g-${machine}` };
    if (change) grants[machine] = { ...base, ...change } as LedgerGrant;
    else delete grants[machine];
  }
  return { ...spec, seq: spec.seq + 1, grants };
}

interface Change {
  readonly grants?: GrantChanges;
  readonly spec?: Partial<DefenderLedgerSpec>;
}

/** Why the write is denied, or Written. */
async function writeWith({ grants = {}, spec = {} }: Change, metadata: object = {}): Promise<string> {
  const replacement = {
    ...ledger,
    metadata: { ...ledger.metadata, ...metadata },
    spec: { ...withGrants(ledger.spec, grants), ...spec },
  };
  return await defender
    .replace(DEFENDER_LEDGERS, replacement, { dryRun: true })
    .then(() => 'Written', String);
}

/** Why a creation is denied. It always is, because the ledger exists, but admission comes first. */
async function creationDenial(grants: GrantChanges): Promise<string> {
  const { apiVersion, kind } = ledger;
  const spec = { ...withGrants(ledger.spec, grants), seq: 40 };
  const created = { apiVersion, kind, metadata: { name: LEDGER }, spec };
  return await defender.create(DEFENDER_LEDGERS, created, { dryRun: true }).then(() => 'Created', String);
}

describe('a write of the ledger', () => {
  it.each<[string, Change]>([
    ['settles a started grant', { grants: { n17: SETTLED } }],
    ['drops a grant that was never started', { grants: { n18: undefined } }],
    ['drops a settled grant', { grants: { n19: undefined } }],
    ['renews a grant', { grants: { n17: { notAfter: '2026-11-20T09:00:00Z' } } }],
    ['writes a new grant with the fence of this write', { grants: { n20: { fence: 3 } } }],
    [
      'continues above every fence while it recovers',
      {
        grants: { n20: { fence: 41 } },
        spec: { seq: 42, recovering: true, recoveringSince: '2026-11-20T07:00:00Z' },
      },
    ],
    ['leads with a new epoch', { spec: { epoch: 2 } }],
  ])('is accepted when it %s', async (_, change) => {
    expect(await writeWith(change)).toBe('Written');
  });

  it('is accepted with the same seq when only metadata or status change', async () => {
    const { seq } = ledger.spec;
    expect(await writeWith({ spec: { seq } }, { labels: { team: 'nodes' } })).toBe('Written');
    const body = { status: { sizeBytes: 7 } };
    const options = { subresource: 'status', dryRun: true };
    const patched = defender.patch(DEFENDER_LEDGERS, { name: LEDGER }, { type: 'merge', body }, options);
    await expect(patched).resolves.toMatchObject({
      status: { sizeBytes: 7 },
    });
  });

  it('is accepted when it creates the ledger again with grants of older fences, and denied when one is malformed', async () => {
    expect(await creationDenial({})).toContain('already exists');
    expect(await creationDenial({ n18: { state: 'Settled' } })).toContain(WELL_FORMED);
  });

  it.each<[string, Change, message: string]>([
    ['does not raise seq', { grants: { n18: undefined }, spec: { seq: 2 } }, SEQ],
    ['skips a seq', { spec: { seq: 4 } }, SEQ],
    ['lowers seq', { spec: { seq: 1 } }, SEQ],
    ['lowers epoch', { spec: { epoch: 0 } }, SEQ],
    ['removes a started grant', { grants: { n17: undefined } }, 'a started grant must be settled'],
    ['takes a start back', { grants: { n17: { state: 'Granted' } } }, 'a started grant must be settled'],
    [
      'gives a started grant another id',
      { grants: { n17: { id: 'g-9', fence: 3 } } },
      'a started grant must be',
    ],
    ['changes the fence of a grant', { grants: { n18: { fence: 3 } } }, IDENTITY],
    ['changes when a grant was issued', { grants: { n18: { issuedAt: '2026-11-20T07:00:06Z' } } }, IDENTITY],
    ['opens a settled grant again', { grants: { n19: { state: 'Started' } } }, IDENTITY],
    ['writes a new grant with an old fence', { grants: { n20: { fence: 2 } } }, FENCE],
    ['writes a new grant with a later fence', { grants: { n20: { fence: 4 } } }, FENCE],
    ['settles a grant without a moment', { grants: { n18: { state: 'Settled' } } }, WELL_FORMED],
    [
      'has a grant that ends before it begins',
      { grants: { n18: { notAfter: '2026-11-20T06:05:05Z' } } },
      WELL_FORMED,
    ],
  ])('is denied when it %s', async (_, change, message) => {
    const denied = await writeWith(change);
    expect(denied).toContain(`'${POLICY_LEDGER_RULES}'`);
    expect(denied).toContain(message);
  });
});
