/** Judges each write of the controllers, and each instance, by what is true in that moment. No status of a set is read before the end. */
import { MACHINE_SETS, MACHINES } from '../../../api/generated/resources.ts';
import type { Machine, MachineSet } from '../../../api/generated/types.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { ApiChange } from '../../api-server/objects.ts';
import type { RolloutViolation } from '../../rollout/history.ts';
import type { CloudInstance } from '../cloud.ts';
import type { InstanceHosts } from '../instance-hosts.ts';
import { SET } from '../set-people.ts';
import { createActRules } from './act-rules.ts';
import { leftoversOf } from './leftovers.ts';
import { createReplacementRules } from './replacement-rules.ts';
import { createSetTruth, isLive } from './set-truth.ts';
import { createStormWatch } from './storms.ts';

export interface SetJudge {
  readonly violations: readonly RolloutViolation[];
  /** The list of what was created and deleted, in order. */
  readonly history: readonly string[];
  written(change: ApiChange): void;
  created(instance: CloudInstance): void;
  deleting(instance: CloudInstance): void;
  unsearched(machine: string): void;
  /** Runs an act whose writes are those of people. */
  asPerson(act: () => void): void;
  /** Observes the cluster. Called once in each step. */
  observe(): void;
  /** Judges what is left. Called long after the last fault. */
  quiet(replicas: number): void;
}

export type JudgedCluster = Pick<InstanceHosts, 'api' | 'cloud' | 'hosts' | 'nowMs'>;

export function createSetJudge(cluster: JudgedCluster): SetJudge {
  const { api, cloud, nowMs } = cluster;
  const violations: RolloutViolation[] = [];
  const history: string[] = [];
  const truth = createSetTruth(api);
  const storms = createStormWatch(cluster);
  const replacements = createReplacementRules({ truth, nowMs });
  const rules = createActRules({ truth, storms, replacements, nowMs });
  let isPerson = false;
  return {
    violations,
    history,
    written,
    created,
    deleting,
    unsearched: (machine) => blame(machine, ['an instance is created without a search for it']),
    asPerson: (act) => {
      isPerson = true;
      act();
      isPerson = false;
    },
    observe: () => {
      storms.observe(truth.live());
      blame(SET, replacements.observe());
      for (const { machine, tags, endsMs } of cloud.list()) {
        const isLeft = endsMs === undefined && !truth.machineOf(tags.machineUid);
        if (isLeft) blame(machine, ['an instance without its Machine']);
      }
    },
    quiet: (replicas) => {
      for (const [machine, what] of leftoversOf(cluster, replicas)) blame(machine, [what]);
    },
  };

  function blame(machine: string, reasons: readonly string[]): void {
    for (const what of reasons) violations.push({ atMs: nowMs(), machine, what });
  }

  function note(text: string): void {
    history.push(`${new Date(nowMs()).toISOString()} ${text}${isPerson ? ' by a person' : ''}`);
  }

  function written({ before, after }: ApiChange): void {
    const kind = (after ?? before)?.kind;
    // The types of its kinds.
    if (kind === MACHINES.kind) machineWritten(before as Machine | undefined, after as Machine | undefined);
    else if (kind === MACHINE_SETS.kind && after) rules.desired((after as MachineSet).spec);
    else if (kind === NODES.kind && !after) nodeDeleted(before);
  }

  function nodeDeleted(node: KubeObject | undefined): void {
    if (node && !truth.isGranted(node)) blame(node.metadata.name, ['a Node was deleted without a grant']);
  }

  function machineWritten(before: Machine | undefined, after: Machine | undefined): void {
    if (!before && after) {
      const { name } = after.metadata;
      note(`Machine ${name} created`);
      blame(name, rules.creationReasons());
    }
    if (before && isLive(before) && !(after && isLive(after))) machineDeleted(before);
  }

  function machineDeleted(machine: Machine): void {
    const { name } = machine.metadata;
    note(`Machine ${name} deleted`);
    if (isPerson) rules.deletedByPerson();
    else blame(name, rules.deletionReasons(machine));
  }

  function created({ id, machine, tags }: CloudInstance): void {
    note(`instance ${id} created`);
    const isSecond = cloud.list().some((each) => each.machine === machine && each.id !== id);
    if (isSecond) blame(machine, ['a second instance of one Machine']);
    const isOfMachine = truth.machineOf(tags.machineUid)?.metadata.name === machine;
    if (!isOfMachine) blame(machine, ['an instance without its Machine is created']);
  }

  function deleting({ id, machine, tags }: CloudInstance): void {
    note(`instance ${id} deleted`);
    const found = truth.machineOf(tags.machineUid);
    if (isPerson || !found) return;
    if (isLive(found)) blame(machine, ['the instance of a machine that is not deleted was deleted']);
    const isOver = truth.grantOf(found)?.outcome === 'Succeeded';
    if (!truth.isGranted(found) && !isOver) blame(machine, ['an instance was deleted without a grant']);
  }
}
