/** Builds the ask of the Defender for pins: one act for all of them that are not at their end. Pure. */
import type { Machine, MachineComponentEntry } from '../../../api/generated/types.ts';
import type { GrantAsk } from '../../../api/grants.ts';
import { reportOf } from '../../../api/machine/entry-report.ts';
import { isEstablished } from '../../../api/machine/node-state.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { riskOf } from '../revision/change-class.ts';
import type { FindInstalled } from '../revision/entry-content.ts';
import { classOfPins } from './class.ts';
import { PIN_TIMEOUT_SECONDS, type PinInput, pinsOf } from './plan.ts';

export interface PinSurroundings {
  readonly node: KubeObject | undefined;
  readonly find: FindInstalled;
}

export function pinAsk(
  { machine, now }: Pick<PinInput, 'machine' | 'now'>,
  names: readonly string[],
  { node, find }: PinSurroundings,
): GrantAsk {
  const { name } = machine.metadata;
  const changed = pinsOf(machine).filter((entry) => names.includes(entry.name));
  return {
    holder: { kind: 'Machine', name, origin: `Machine/${name}` },
    machine: name,
    ...optional('nodeUID', node?.metadata.uid),
    action: 'UpdateComponent',
    risk: riskOf(classOfPins(machine, changed, find), isEstablished(machine, node)),
    factsAt: now,
    expectedSeconds: PIN_TIMEOUT_SECONDS,
    started: true,
    ...optional('brings', broughtBy(machine, changed)),
  };
}

function broughtBy(
  machine: Machine,
  changed: readonly MachineComponentEntry[],
): readonly string[] | undefined {
  const present = changed.filter(({ state }) => state !== 'Absent');
  const added = present.filter((entry) => reportOf(machine, entry)?.currentRef !== entry.componentRef);
  return added.length === 0 ? undefined : added.map(({ componentRef }) => componentRef);
}
