/** Computes which version of each component runs where, against what is desired: coverage and consistency. Pure. */

import { compareVersions } from '../../../agent/target/version-range.ts';
import type { MachineComponent } from '../../../api/generated/types.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import type { ComponentUse } from '../../../observability/fleet/component-uses.ts';

export interface ComponentCoverage {
  readonly component: string;
  /** The number of machines that shall have the component, of the `total`. */
  readonly machines: number;
  readonly total: number;
  readonly consistent: number;
  readonly versions: readonly VersionUse[];
  /** The first machines that differ, in the order of their names. */
  readonly differing: readonly string[];
}

export interface VersionUse {
  readonly componentRef: string;
  readonly desired: number;
  readonly current: number;
  readonly failed: number;
  /** The phase of the MachineComponent, which may not exist any more. */
  readonly phase: string;
}

const MAX_NAMES = 20;

/** The facts about a MachineComponent, without its content. */
export interface KnownVersion {
  readonly component: string;
  readonly componentRef: string;
  readonly phase: string;
}

export function knownVersion({ metadata, spec, status }: MachineComponent): KnownVersion {
  return { component: spec.component, componentRef: metadata.name, phase: status?.phase ?? 'Pending' };
}

export function coverageOf(
  uses: readonly ComponentUse[],
  known: readonly KnownVersion[],
  total: number,
): readonly ComponentCoverage[] {
  const byComponent = Map.groupBy(uses, ({ component }) => component);
  const versions = Map.groupBy(known, ({ component }) => component);
  const names = [...new Set([...byComponent.keys(), ...versions.keys()])].toSorted(byCode);
  return names.map((component) => {
    const own = byComponent.get(component) ?? [];
    const desired = own.filter(({ desiredRef }) => desiredRef !== undefined);
    const differing = own.filter(({ isConsistent }) => !isConsistent).map(({ machine }) => machine);
    return {
      component,
      machines: desired.length,
      total,
      consistent: desired.filter(({ isConsistent }) => isConsistent).length,
      versions: versionsOf(component, own, versions.get(component) ?? []),
      differing: differing.toSorted(byCode).slice(0, MAX_NAMES),
    };
  });
}

function versionsOf(
  component: string,
  uses: readonly ComponentUse[],
  known: readonly KnownVersion[],
): readonly VersionUse[] {
  const phases = new Map(known.map(({ componentRef, phase }) => [componentRef, phase]));
  const used = uses.flatMap(({ desiredRef, currentRef }) => [desiredRef ?? [], currentRef ?? []].flat());
  const refs = [...new Set([...phases.keys(), ...used])];
  return refs
    .map((componentRef) => ({
      componentRef,
      desired: uses.filter((use) => use.desiredRef === componentRef).length,
      current: uses.filter((use) => use.currentRef === componentRef).length,
      failed: uses.filter((use) => use.isFailed && use.desiredRef === componentRef).length,
      phase: phases.get(componentRef) ?? 'Missing',
    }))
    .toSorted((a, b) => newestFirst(component, a, b));
}

/** Compares by the numbers of the version: 1.10.0 is newer than 1.9.0. */
function newestFirst(component: string, a: VersionUse, b: VersionUse): number {
  const versionOf = ({ componentRef }: VersionUse): string => componentRef.slice(component.length + 1);
  return compareVersions(versionOf(b), versionOf(a)) || byCode(b.componentRef, a.componentRef);
}
