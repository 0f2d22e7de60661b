/**
 * Explains a machine to a person who may not read all that the Defender decides by: what its Machine, its jobs and the ledger report, and
 * no verdict. A verdict without the other nodes would be a guess.
 */
import {
  DEFENDER_LEDGERS,
  DEFENDER_POLICIES,
  FLEET_ALLOWANCES,
  MACHINE_SETS,
  MACHINES,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../../api/generated/resources.ts';
import type { Machine } from '../../../api/generated/types.ts';
import { LEDGER } from '../../../api/names.ts';
import { explainMachine, type MachineExplanation } from '../../../defender/explain.ts';
import type { MachineFacts } from '../../../defender/facts/facts.ts';
import { observedFacts } from '../../../defender/facts/observed-machine.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { conditionOf } from '../../../kube/objects/conditions.ts';
import { NODES, PODS } from '../../../kube/objects/core-kinds.ts';
import type { Resource } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Io } from '../../io.ts';
import { collect, readNamed } from '../read.ts';
import type { UnknownPart } from './format.ts';
import { noLedger } from './missing.ts';
import { objectWaits } from './waits.ts';

/** The kinds that the Defender decides by. */
export const DECIDING_KINDS: readonly Resource[] = [
  MACHINES,
  NODES,
  PODS,
  MACHINE_SETS,
  DEFENDER_POLICIES,
  REMEDY_OPERATION_JOBS,
  DEFENDER_LEDGERS,
  FLEET_ALLOWANCES,
  NODE_REMEDIERS,
];

/** Finds the kinds that the person may not list. */
export async function findUnreadable(client: Client, signal: AbortSignal): Promise<readonly Resource[]> {
  const found = await Promise.all(
    DECIDING_KINDS.map(async (resource) => {
      try {
        await client.list(resource, { limit: 1, signal });
        return [];
      } catch (error) {
        if (isKubeError(error, 'Forbidden')) return [resource];
        throw error;
      }
    }),
  );
  return found.flat();
}

function unreadableKindsText(resources: readonly Resource[]): string {
  const names = resources.map(({ group, plural }) => (group === '' ? plural : `${plural}.${group}`));
  return `whether a repair would be permitted is not known: you may not list ${names.join(', ')}, by which the Defender decides`;
}

/** Names each part of an explanation that is not known without these kinds: that it is absent does not show that there is none. */
export function unreadableParts(resources: readonly Resource[]): readonly UnknownPart[] {
  const isNodeUnread = resources.some(({ kind, group }) => kind === NODES.kind && group === NODES.group);
  return [
    { part: 'acts', because: unreadableKindsText(resources) },
    ...(isNodeUnread
      ? ([
          {
            part: 'held',
            because: 'what holds the machine by its Node is not known: you may not list nodes',
          },
        ] as const)
      : []),
    {
      part: 'probes',
      because: 'what the probes of its peers found is not known: the views of the Defender were not read',
    },
  ];
}

/** Rejects if the Machine, its jobs or the ledger may not be read. */
export async function readReported(
  { clock, signal }: Pick<Io, 'clock' | 'signal'>,
  client: Client,
  name: string,
): Promise<MachineExplanation> {
  const machine = await readNamed(client, MACHINES, name, signal);
  const [jobs, ledgers] = await Promise.all([
    collect(
      client,
      REMEDY_OPERATION_JOBS,
      { signal, fieldSelector: `spec.machine.name=${name}` },
      (job) => job,
    ),
    collect(client, DEFENDER_LEDGERS, { signal }, (each) => each),
  ]);
  const ledger = ledgers.find(({ metadata }) => metadata.name === LEDGER);
  if (!ledger) throw noLedger();
  return explainMachine({
    machine: reportedFacts(machine),
    ...optional('readinessSince', conditionOf(machine.status?.conditions, 'NodeReady')?.lastTransitionTime),
    waits: objectWaits({ machine, jobs, ledger }),
    ledger: ledger.spec,
    facts: { machine: () => undefined, view: UNKNOWN_VIEW },
    decisions: [],
    policies: { valid: [] },
    now: clock.now(),
  });
}

const UNKNOWN_VIEW = { ageSeconds: undefined, apiErrorPercent: undefined, clockSkewSeconds: undefined };

/** Reads of the Machine what the Defender reads of its Node. */
function reportedFacts(machine: Machine): MachineFacts {
  const { node, conditions } = machine.status ?? {};
  const facts = observedFacts({
    machine,
    node: undefined,
    blockingPods: undefined,
    unknownSince: undefined,
    faults: undefined,
  });
  const ready = conditionOf(conditions, 'NodeReady')?.status;
  return {
    ...facts,
    ...optional('nodeUID', node?.uid),
    readiness: ready === 'True' ? 'Ready' : ready === 'False' ? 'NotReady' : 'Unknown',
    established: node?.establishedAt !== undefined,
    cordoned: node?.cordon !== undefined,
  };
}
