/** Where a node is not as it was when everything was as declared. Pure. */
import { AGENT_UNIT, COMPONENT_UNITS } from './breakage.ts';
import type { HostObservation, NodeFile, NodeObservation, NodeUnit } from './observation.ts';

export interface NodeDifference {
  /** Path, unit, `Machine` or `Node`. */
  readonly subject: string;
  readonly text: string;
}

export const MACHINE = 'Machine';
export const NODE = 'Node';
/** No file of the agent's state fits. */
const FULL_KIB = 4;

export function differencesOf(
  declared: HostObservation,
  observed: NodeObservation,
): readonly NodeDifference[] {
  return [
    ...[...declared.files].flatMap(([path, file]) => fileDifferences(path, file, observed.files.get(path))),
    ...[...declared.units].flatMap(([unit, expected]) =>
      unitDifferences(unit, expected, observed.units.get(unit)),
    ),
    ...[...declared.answers].flatMap(([component, answers]) =>
      answers && observed.answers.get(component) === false
        ? [{ subject: unitOf(component), text: 'does not answer' }]
        : [],
    ),
    ...(observed.isAccepted === false
      ? [{ subject: MACHINE, text: 'has a state that the agent does not have' }]
      : []),
    ...(observed.isHeartbeatNew === false ? [{ subject: AGENT_UNIT, text: 'renews no Lease' }] : []),
    ...(observed.isNodeReady === false ? [{ subject: NODE, text: 'is not Ready in this boot' }] : []),
  ];
}

export function isFull({ freeKiB }: HostObservation): boolean {
  return freeKiB <= FULL_KIB;
}

export function unitOf(component: string): string {
  return (COMPONENT_UNITS as Readonly<Record<string, string>>)[component] ?? component;
}

function fileDifferences(subject: string, expected: NodeFile, found: NodeFile | undefined): NodeDifference[] {
  if (!found) return [{ subject, text: 'is missing' }];
  const keys = ['type', 'mode', 'owner', 'content'] as const;
  return keys
    .filter((key) => found[key] !== expected[key])
    .map((key) => ({ subject, text: `has ${key} ${found[key]}, not ${expected[key]}` }));
}

function unitDifferences(subject: string, expected: NodeUnit, found: NodeUnit | undefined): NodeDifference[] {
  if (!found) return [{ subject, text: 'is unknown to systemd' }];
  const texts = [
    found.active === expected.active ? undefined : `is ${found.active}`,
    found.enabled === expected.enabled ? undefined : `is ${found.enabled || 'not enabled'}`,
    found.needsReload ? 'has files that systemd has not read' : undefined,
    found.isSuspended ? 'is stopped by a signal' : undefined,
    isOther(found, expected) ? 'runs another program' : undefined,
  ];
  return texts.filter((text) => text !== undefined).map((text) => ({ subject, text }));
}

function isOther(found: NodeUnit, expected: NodeUnit): boolean {
  return found.active === 'active' && found.program !== expected.program;
}
