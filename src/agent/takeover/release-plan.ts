/** Decides how a host is released: in which order, and what is left of it. Pure. */
import { changeBetween } from '../../api/machine/component-change.ts';
import type { ComponentObservation } from '../component/observe.ts';
import type { HostOperation } from '../component/operation.ts';
import { operate, swapActions } from '../component/placements.ts';
import { orderComponents } from '../desired/order.ts';
import { INTERFACES } from '../layout.ts';
import type { Target } from '../target/target.ts';
import type { HostCleanup } from './record.ts';

export interface ReleaseInput {
  readonly cleanup: HostCleanup;
  /** The components that the journal knows. */
  readonly components: readonly InstalledComponent[];
}

export interface InstalledComponent {
  readonly component: string;
  /** The targets that may have something on the host: the one in force, and both ends of a transition. */
  readonly targets: readonly Target[];
  /** Whether a target cannot be read any more: then it is not known what it has on the host. */
  readonly damaged: boolean;
}

export type HostReleaseStep =
  | {
      readonly type:
        | 'EndUpgrade'
        | 'StopAgent'
        | 'RemoveUnit'
        | 'RemoveCredentials'
        | 'ForgetMachine'
        | 'RemoveState'
        | 'RemoveProgram';
    }
  | {
      readonly type: 'RemoveComponent' | 'RemoveVersions' | 'RemoveTraces' | 'RemoveData';
      readonly component: string;
    };

/** Only the agent has used these, so that every cleanup removes them. */
const AGENT_STEPS = [{ type: 'RemoveUnit' }, { type: 'RemoveCredentials' }] as const;

/** The agent stops first, so that it corrects nothing. What depends on others goes before them. The program goes last: it does all this. */
export function planHostRelease({ cleanup, components }: ReleaseInput): readonly HostReleaseStep[] {
  const stop = [{ type: 'EndUpgrade' }, { type: 'StopAgent' }] as const;
  if (cleanup === 'Orphan') {
    return [...stop, ...AGENT_STEPS, { type: 'ForgetMachine' }, { type: 'RemoveProgram' }];
  }
  const names = removalOrder(components);
  return [
    ...stop,
    ...names.map((component) => ({ type: 'RemoveComponent', component }) as const),
    // When all have stopped: containers use directories of the kubelet and of their runtime.
    ...names.map((component) => ({ type: 'RemoveTraces', component }) as const),
    ...names.map((component) => ({ type: 'RemoveVersions', component }) as const),
    ...(cleanup === 'Wipe' ? names.map((component) => ({ type: 'RemoveData', component }) as const) : []),
    ...AGENT_STEPS,
    { type: 'RemoveState' },
    { type: 'RemoveProgram' },
  ];
}

function removalOrder(components: readonly InstalledComponent[]): readonly string[] {
  const dependencies = new Map(
    components.map(({ component, targets }) => [
      component,
      targets.flatMap(({ dependsOn }) => dependsOn.map((each) => each.component)),
    ]),
  );
  return orderComponents(dependencies).toReversed();
}

/** Returns the name of a step, as the record on the host has it. */
export function formatReleaseStep(step: HostReleaseStep): string {
  return 'component' in step ? `${step.type} ${step.component}` : step.type;
}

/** Returns what is left to do until nothing of the target is on the host. */
export function removalOperations(target: Target, observed: ComponentObservation): readonly HostOperation[] {
  const { stop, because } = changeBetween(target, undefined);
  const stops = target.units
    .filter(({ name }) => stop.has(name) && isRunning(observed.units.get(name)?.active))
    .map(({ name }) => operate({ op: 'StopUnit', target, unit: name }, because));
  return [...stops, ...swapActions(target, undefined, observed)].flatMap((action) =>
    action.type === 'Operate' ? [action.operation] : [],
  );
}

function isRunning(active: string | undefined): boolean {
  return active !== undefined && active !== 'Inactive';
}

export interface Traces {
  /** The directories to remove. */
  readonly directories: readonly string[];
  /** The network interfaces to remove, by their paths in INTERFACES. */
  readonly interfaces: readonly string[];
  /** The paths of those of which it is not known whether they were there before. */
  readonly unknown: readonly string[];
}

/** Decides about what the programs of a component made. What was there before belongs to somebody else. */
export function planTraces(
  { targets }: Pick<InstalledComponent, 'targets'>,
  before: readonly string[] | undefined,
): Traces {
  const directories = unique(targets.flatMap(({ stateDirectories = [] }) => stateDirectories));
  const names = unique(targets.flatMap(({ networkInterfaces = [] }) => networkInterfaces));
  const interfaces = names.map((name) => `${INTERFACES}/${name}`);
  if (!before) return { directories: [], interfaces: [], unknown: [...directories, ...interfaces] };
  const isOurs = (path: string): boolean => !before.includes(path);
  return { directories: directories.filter(isOurs), interfaces: interfaces.filter(isOurs), unknown: [] };
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}
