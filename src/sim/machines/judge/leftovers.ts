/**
 * Finds what is wrong in a run long after its last fault. Expected are exactly as many machines as asked for, all Ready, and nothing else.
 */
import { isDeepStrictEqual } from 'node:util';
import { DEFENDER_LEDGERS, MACHINE_SETS, MACHINES } from '../../../api/generated/resources.ts';
import type { Machine, MachineSet } from '../../../api/generated/types.ts';
import { isCordoned } from '../../../api/machine/node-state.ts';
import { LEDGER } from '../../../api/names.ts';
import { conditionStatus } from '../../../kube/objects/conditions.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import type { InstanceHosts } from '../instance-hosts.ts';
import { SET } from '../set-people.ts';

type Leftover = readonly [machine: string, what: string];

export function leftoversOf(
  { api, cloud }: Pick<InstanceHosts, 'api' | 'cloud'>,
  replicas: number,
): readonly Leftover[] {
  const machines = api.list(MACHINES);
  const byName = new Map(machines.map((machine) => [machine.metadata.name, machine]));
  const nodes = api.list(NODES);
  const { grants = {} } = api.get(DEFENDER_LEDGERS, LEDGER)?.spec ?? {};
  const open = Object.keys(grants).filter((name) => grants[name]?.state !== 'Settled');
  const instances = cloud.list();
  return [
    ...countOf('machines', machines.length, replicas),
    ...countOf('instances', instances.length, replicas),
    ...countOf('Nodes', nodes.length, replicas),
    ...countOf(
      'Ready machines in the status of the set',
      api.get(MACHINE_SETS, SET)?.status?.readyReplicas,
      replicas,
    ),
    ...named(
      machines.filter((each) => !isSettled(each)),
      (each) => `is not Ready: ${JSON.stringify(each.status?.waiting)}`,
    ),
    ...instances
      .filter(({ machine, tags }) => byName.get(machine)?.metadata.uid !== tags.machineUid)
      .map(({ machine }) => [machine, 'an instance without its Machine is left'] as const),
    ...named(
      machines.filter((each) => isBehind(each, api.get(MACHINE_SETS, SET))),
      () => 'does not match the template',
    ),
    ...named(nodes.filter(isCordoned), () => 'a cordon is left'),
    ...open.map((name) => [name, 'a grant is left'] as const),
  ];
}

/** Tells whether a set that replaces machines has left one that differs from its template. */
function isBehind({ spec: { infra } }: Machine, set: MachineSet | undefined): boolean {
  if (set?.spec.updateStrategy.type !== 'Replace') return false;
  return !isDeepStrictEqual(set.spec.template.infra.config, infra.config);
}

function isSettled({ metadata, status }: Machine): boolean {
  return metadata.deletionTimestamp === undefined && conditionStatus(status?.conditions, 'Ready') === 'True';
}

function countOf(what: string, count: number | undefined, replicas: number): readonly Leftover[] {
  return count === replicas ? [] : [[SET, `${count} ${what} at the end, and ${replicas} asked for`]];
}

function named<T extends { readonly metadata: { readonly name: string } }>(
  objects: readonly T[],
  what: (object: T) => string,
): readonly Leftover[] {
  return objects.map((object) => [object.metadata.name, what(object)]);
}
