/** Previews what the controllers of a cluster would roll out after a commit, with the planner that they run. Pure. */
import type { MachineComponentSet, MachineComponentSpec } from '../../../api/generated/types.ts';
import type { GrantAsk } from '../../../api/grants.ts';
import { createCompatRule } from '../../../controllers/componentset/compat/rule.ts';
import { membershipOf } from '../../../controllers/componentset/members/membership.ts';
import { createClassOf } from '../../../controllers/componentset/observe/classes.ts';
import { createFindVersion } from '../../../controllers/componentset/observe/component-versions.ts';
import { previewRollout, type RolloutPreview } from '../../../controllers/componentset/preview/preview.ts';
import { type Revision, resolveRevision } from '../../../controllers/componentset/revision/resolve.ts';
import { readRevision, storedName } from '../../../controllers/componentset/revision/stored-revisions.ts';
import type { RolloutInput } from '../../../controllers/componentset/rollout/input.ts';
import { createSkewRule } from '../../../controllers/componentset/servers/skew.ts';
import { progressFromStatus } from '../../../controllers/componentset/status/progress.ts';
import { byCode, canonicalJson } from '../../../kube/objects/digest.ts';
import { ownValue } from '../../../kube/objects/json.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import type { MachinesPreview, PlannedRollout } from '../../../sync/preview/rollouts.ts';
import { readMember } from '../../fleet/member.ts';
import { findComponentIn } from '../../fleet/versions.ts';
import type { RolloutFleet } from './fleet.ts';

/** The most batches that are previewed: as many as the status of a set has. */
const MAX_BATCHES = 32;
export const MAX_PLANNED_NAMES = 20;

export interface AskedRollout {
  readonly rollout: PlannedRollout;
  /** The asks that the Defender would get now, about machines that exist. */
  readonly asks: readonly GrantAsk[];
}

/** Plans the rollouts of sets whose rollout the commit changes: one that continues as before is not mentioned. */
export function planRollouts(before: RolloutFleet, after: RolloutFleet, now: Date): readonly AskedRollout[] {
  const machines = new Set(before.machines.map(({ metadata }) => metadata.name));
  const known = new Map(before.sets.map((set) => [set.metadata.name, set]));
  const [previewBefore, previewAfter] = [before, after].map((fleet) => createPreviewer(fleet, now));
  return after.sets
    .toSorted((a, b) => byCode(a.metadata.name, b.metadata.name))
    .flatMap((set) => {
      const old = known.get(set.metadata.name);
      const planned = previewAfter?.(set);
      const isSame = old && canonicalJson(previewBefore?.(old)) === canonicalJson(planned);
      if (!planned || isSame) return [];
      const asks = planned.asks.filter(({ machine }) => machines.has(machine));
      return [{ rollout: plannedRollout(set, old, planned), asks }];
    });
}

interface SetPreview extends RolloutPreview {
  readonly selected: number;
}

function createPreviewer(fleet: RolloutFleet, now: Date): (set: MachineComponentSet) => SetPreview {
  const get = findComponentIn(fleet.components);
  const find = createFindVersion({ get });
  const classOf = createClassOf(get);
  const specOf = (componentRef: string): MachineComponentSpec | undefined => get(componentRef)?.spec;
  const skewOf = createSkewRule(fleet.servers, specOf);
  const compatOf = createCompatRule(fleet.servers, specOf);
  return (set) => {
    const { members, conflicts } = membershipOf(set, fleet.sets, fleet.machines);
    const progress = progressFromStatus(set.status);
    const stable = stableRevision(set, fleet);
    const input: RolloutInput = {
      // What a pause holds back is shown, too.
      set: { ...set, spec: { ...set.spec, paused: false } },
      desired: resolveRevision(set.spec.components, find),
      ...optional('stable', stable),
      progress,
      members: members.map((machine) => {
        const { name } = machine.metadata;
        return readMember(
          { machine, node: fleet.nodes.get(name), grant: ownValue(fleet.grants, name) },
          set,
          now,
        );
      }),
      left: [],
      deleted: [],
      runs: [],
      classOf,
      skewOf,
      compatOf,
      now,
    };
    const { wait: found, ...preview } = previewRollout(input);
    const wait = set.spec.paused ? PAUSED : (conflicts[0]?.conflict ?? found);
    return { ...preview, selected: members.length + conflicts.length, ...optional('wait', wait) };
  };
}

const PAUSED: Explanation = { reason: 'Paused', because: 'spec.paused is true' };

function stableRevision(set: MachineComponentSet, { revisions }: RolloutFleet): Revision | undefined {
  const name = set.status?.history?.find(({ result }) => result === 'Completed')?.revision;
  return name === undefined ? undefined : readRevision(name, revisions.get(storedName(set, name)));
}

function plannedRollout(
  set: MachineComponentSet,
  before: MachineComponentSet | undefined,
  preview: SetPreview,
): PlannedRollout {
  const { batches, joining, joiningClass, wait, takes, selected, drains, grants, holds } = preview;
  const rest = batches.slice(MAX_BATCHES);
  return {
    set: set.metadata.name,
    changes: componentChanges(before, set),
    selected,
    batches: batches
      .slice(0, MAX_BATCHES)
      .map((batch) => ({ index: batch.index, ...plannedMachines(batch.machines, batch.class) })),
    more: { batches: rest.length, machines: rest.reduce((sum, { machines }) => sum + machines.length, 0) },
    joining: plannedMachines(joining, joiningClass),
    class: preview.class,
    drains,
    grants,
    ...optional('wait', wait && { reason: wait.reason, message: wait.because }),
    ...optional('takes', wait || grants === 0 ? undefined : takes),
    ...optional('holds', holds.length > 0 ? holdsOf(holds) : undefined),
  };
}

function holdsOf(holds: readonly Explanation[]): NonNullable<PlannedRollout['holds']> {
  const first = holds.slice(0, MAX_PLANNED_NAMES);
  return {
    first: first.map(({ reason, because }) => ({ reason, message: because })),
    more: holds.length - first.length,
  };
}

function plannedMachines(names: readonly string[], worst: string): MachinesPreview {
  return { count: names.length, class: worst, names: names.slice(0, MAX_PLANNED_NAMES) };
}

function componentChanges(before: MachineComponentSet | undefined, after: MachineComponentSet): string[] {
  const old = new Map(before?.spec.components.map((component) => [component.name, component]));
  return after.spec.components.flatMap((component) => {
    const from = old.get(component.name);
    const [left, right] = [from, component].map(contentText);
    if (from && canonicalJson(from) === canonicalJson(component)) return [];
    return left === right ? [`${right} with other parameters`] : [`${left} → ${right}`];
  });
}

function contentText(component: MachineComponentSet['spec']['components'][number] | undefined): string {
  if (!component) return 'nothing';
  return component.state === 'Absent' ? `${component.name} absent` : component.componentRef;
}
