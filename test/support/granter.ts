/**
 * Grants without the Defender, for tests and by hand: writes ledger and entries as its two writers do, so that every policy holds
 * as in a real cluster, and asks no budget, window or breaker. Test code: nothing in src may import it.
 */
import { DEFENDER_LEDGERS, MACHINES } from '../../src/api/generated/resources.ts';
import type {
  DefenderLedger,
  DefenderLedgerSpec,
  LedgerGrant,
  Machine,
  MachineComponentEntry,
} from '../../src/api/generated/types.ts';
import { entryDigest } from '../../src/api/machine/entry-content.ts';
import { LEDGER, MANAGER_COMPONENTSET, MANAGER_DEFENDER } from '../../src/api/names.ts';
import { CliError, EXIT } from '../../src/cli/errors.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { isKubeError } from '../../src/kube/client/errors.ts';
import type { Clock } from '../../src/os/clock.ts';
import { eventually } from './eventually.ts';

export interface GranterOptions {
  /** Signed in as kubenode-defender. */
  readonly defender: Client;
  /** Signed in as kubenode-componentset. */
  readonly componentset: Client;
  readonly clock: Pick<Clock, 'now'>;
  readonly minutes?: number;
}

export type GrantRequest = Pick<LedgerGrant, 'holder' | 'action' | 'risk'> & { readonly nodeUID?: string };
export type RecordedGrant = Pick<LedgerGrant, 'id' | 'fence' | 'issuedAt' | 'notAfter'>;

export interface GrantedEntries {
  /** Names of the entries that got the grant; empty when each had one. */
  readonly entries: readonly string[];
  readonly grant?: RecordedGrant;
}

export interface Granter {
  /** One grant for every entry that has none for its content. */
  grantEntries(machine: string): Promise<GrantedEntries>;
  /** Records a grant in the ledger, for a job that will carry it. */
  record(machine: string, request: GrantRequest): Promise<RecordedGrant>;
  /** The grant of the machine that is not settled. */
  find(machine: string): Promise<LedgerGrant | undefined>;
  /** Ends the grant of the machine, if it has one. */
  settle(machine: string): Promise<void>;
}

const BY_HAND = { kind: 'Other', name: 'granted-by-hand' } as const;
const MINUTES = 15;
const WRITES = 5;
/** The policies read the ledger from a cache. */
const CACHE_MS = 20_000;

export function createGranter(options: GranterOptions): Granter {
  const { componentset, clock } = options;

  async function record(machine: string, request: GrantRequest): Promise<RecordedGrant> {
    const now = clock.now();
    const end = new Date(now.getTime() + (options.minutes ?? MINUTES) * 60_000);
    const spec = await changeLedger(options.defender, (ledger) => {
      requireFree(machine, ledger.grants[machine], { holder: request.holder, now });
      const fence = ledger.seq + 1;
      const times = { issuedAt: seconds(now), notAfter: seconds(end) };
      return { [machine]: { ...request, id: `g-hand-${fence}`, fence, state: 'Granted', ...times } };
    });
    return spec.grants[machine] as LedgerGrant;
  }

  return {
    record,
    async grantEntries(machine) {
      const { spec } = await readMachine(options.defender, machine);
      const waiting = spec.components.filter((entry) => !hasGrant(entry, clock.now()));
      if (waiting.length === 0) return { entries: [] };
      const request = { holder: BY_HAND, action: 'UpdateComponent', risk: 'Pod' } as const;
      const grant = await record(machine, request);
      await writeEntries(componentset, machine, waiting, grant);
      return { entries: waiting.map(({ name }) => name), grant };
    },
    async find(machine) {
      const found = (await readLedger(options.defender)).spec.grants[machine];
      return found?.state === 'Settled' ? undefined : found;
    },
    async settle(machine) {
      const settledAt = seconds(clock.now());
      await changeLedger(options.defender, ({ grants }) => {
        const found = grants[machine];
        if (!found || found.state === 'Settled') return {};
        return { [machine]: { ...found, state: 'Settled', settledAt, outcome: 'Succeeded' } };
      });
    },
  };
}

function hasGrant(entry: MachineComponentEntry, now: Date): boolean {
  const { grant } = entry;
  return grant?.entryDigest === entryDigest(entry) && Date.parse(grant.notAfter) > now.getTime();
}

/** The grant of another holder that may still act stays. */
function requireFree(
  machine: string,
  found: LedgerGrant | undefined,
  { holder, now }: { readonly holder: LedgerGrant['holder']; readonly now: Date },
): void {
  if (!found || found.state === 'Settled') return;
  const isOurs = found.holder.kind === holder.kind && found.holder.name === holder.name;
  if (found.state === 'Granted' && (isOurs || Date.parse(found.notAfter) <= now.getTime())) return;
  const { kind, name } = found.holder;
  throw new CliError(`machine ${machine} has the grant ${found.id} of ${kind} ${name}`, {
    hint: `wait until it is settled, or settle it: npm run grant -- ${machine} --settle`,
    exitCode: EXIT.held,
  });
}

type Change = (ledger: DefenderLedgerSpec) => Readonly<Record<string, LedgerGrant>>;

/** By compare-and-swap, as the Defender writes it. */
async function changeLedger(defender: Client, change: Change): Promise<DefenderLedgerSpec> {
  for (let left = WRITES; ; left -= 1) {
    const ledger = await readLedger(defender);
    const changed = change(ledger.spec);
    if (Object.keys(changed).length === 0) return ledger.spec;
    const { seq, epoch, grants } = ledger.spec;
    const spec = {
      ...ledger.spec,
      seq: seq + 1,
      epoch: Math.max(1, epoch),
      grants: { ...grants, ...changed },
    };
    try {
      await defender.replace(DEFENDER_LEDGERS, { ...ledger, spec }, { fieldManager: MANAGER_DEFENDER });
      return spec;
    } catch (error) {
      if (left <= 1 || !isKubeError(error, 'Conflict')) throw error;
    }
  }
}

async function readLedger(defender: Client): Promise<DefenderLedger> {
  return await defender.get<DefenderLedger>(DEFENDER_LEDGERS, { name: LEDGER }).catch((error: unknown) => {
    if (!isKubeError(error, 'NotFound')) throw error;
    throw new CliError('the cluster has no DefenderLedger', {
      hint: 'install kubenode there: kubenode install',
      exitCode: EXIT.badInput,
      cause: error,
    });
  });
}

export async function readMachine(client: Client, machine: string): Promise<Machine> {
  return await client.get<Machine>(MACHINES, { name: machine }).catch((error: unknown) => {
    if (!isKubeError(error, 'NotFound')) throw error;
    throw new CliError(`there is no Machine ${machine}`, {
      hint: 'list them: kubectl get machines',
      exitCode: EXIT.badInput,
      cause: error,
    });
  });
}

async function writeEntries(
  client: Client,
  machine: string,
  entries: readonly MachineComponentEntry[],
  { id, fence, notAfter }: RecordedGrant,
): Promise<void> {
  const components = entries.map((entry) => {
    const grant = { id, fence, entryDigest: entryDigest(entry), notAfter };
    return { name: entry.name, grant };
  });
  const object = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Machine',
    metadata: { name: machine },
    spec: { components },
  };
  await untilObserved(() =>
    client.apply(MACHINES, object, { fieldManager: MANAGER_COMPONENTSET, force: true }),
  );
}

/** The policies read the ledger from a cache: a write that needs a new grant is repeated for a while. */
export async function untilObserved(write: () => Promise<object>): Promise<void> {
  const attempt = async (): Promise<object | undefined> => {
    try {
      return await write();
    } catch (error) {
      const isTooEarly =
        isKubeError(error, 'Forbidden') && error.message.includes("the ledger's unsettled entry");
      if (isTooEarly) return undefined;
      throw error;
    }
  };
  await eventually(attempt, 'the API server did not see the grant', CACHE_MS);
}

/** As the API server writes times. */
export function seconds(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}
