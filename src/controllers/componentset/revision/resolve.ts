/** Resolves what a set asks for to content: the same components with the same content are the same revision. Pure. */
import type { MachineComponentSpec, SetComponent } from '../../../api/generated/types.ts';
import { type EntryContent, entryContent } from '../../../api/machine/entry-content.ts';
import { byCode, digestOf } from '../../../kube/objects/digest.ts';
import { ownValue } from '../../../kube/objects/json.ts';
import type { Explanation } from '../../../rollout/explanation.ts';

export interface Revision {
  /** `r-` and 8 hex digits of the digest of the components. */
  readonly name: string;
  /** The entries, sorted by name. */
  readonly components: readonly EntryContent[];
}

/** A MachineComponent, as far as a set needs it. */
export interface ComponentVersion {
  readonly spec: Pick<MachineComponentSpec, 'component' | 'parameters'>;
  /** The digest of the whole spec. */
  readonly digest: string;
  /** Why the version is not accepted. */
  readonly refused?: string;
  /** Why no new rollout may use the version. */
  readonly yanked?: string;
}

export type FindComponent = (componentRef: string) => ComponentVersion | undefined;

export type ResolvedRevision =
  | { readonly revision: Revision; readonly yanked: readonly Explanation[] }
  | { readonly problems: readonly Explanation[] };

/** Resolves components to a revision, or returns all problems at once, so that one commit can fix them. */
export function resolveRevision(components: readonly SetComponent[], find: FindComponent): ResolvedRevision {
  const found = components.map((component) => ({ component, version: find(component.componentRef) }));
  const problems = found.flatMap(({ component, version }) => componentProblems(component, version));
  if (problems.length > 0) return { problems };
  const resolved = found.flatMap(({ component, version }) =>
    version ? [resolveComponent(component, version)] : [],
  );
  const yanked = found.flatMap(({ component: { componentRef }, version }) =>
    version?.yanked === undefined
      ? []
      : explain(componentRef, 'ComponentYanked', `is yanked: ${version.yanked}`),
  );
  return { revision: revisionOf(resolved), yanked };
}

export function revisionOf(components: readonly EntryContent[]): Revision {
  const sorted = components.map(entryContent).toSorted((a, b) => byCode(a.name, b.name));
  const [, hex = ''] = digestOf(sorted).split(':');
  return { name: `r-${hex.slice(0, 8)}`, components: sorted };
}

/** Resolves one component. A removal needs no parameters. A default that the set repeats changes nothing. */
function resolveComponent(
  { name, componentRef, state, parameters }: SetComponent,
  { spec, digest }: ComponentVersion,
): EntryContent {
  if (state === 'Absent') return { name, componentRef, digest, state, parameters: {} };
  const values = spec.parameters.flatMap((parameter) => {
    const value = ownValue(parameters, parameter.name) ?? parameter.default;
    return value === undefined ? [] : [[parameter.name, value] as const];
  });
  return { name, componentRef, digest, state, parameters: Object.fromEntries(values) };
}

function componentProblems(
  component: SetComponent,
  version: ComponentVersion | undefined,
): readonly Explanation[] {
  const { name, componentRef, state } = component;
  if (!version) return explain(componentRef, 'ComponentNotFound', 'was not found');
  if (version.spec.component !== name) {
    const message = `is a version of ${version.spec.component}, not of ${name}`;
    return explain(componentRef, 'WrongComponent', message);
  }
  if (version.refused !== undefined) {
    return explain(componentRef, 'ComponentRefused', `is not accepted: ${version.refused}`);
  }
  return state === 'Absent' ? [] : parameterProblems(component, version);
}

function parameterProblems(
  { componentRef, parameters }: SetComponent,
  { spec }: ComponentVersion,
): readonly Explanation[] {
  const declared = new Set(spec.parameters.map(({ name }) => name));
  const unknown = Object.keys(parameters).filter((name) => !declared.has(name));
  const missing = spec.parameters.filter(
    (parameter) => ownValue(parameters, parameter.name) === undefined && parameter.default === undefined,
  );
  return [
    ...unknown
      .toSorted(byCode)
      .flatMap((name) => explain(componentRef, 'ParameterUnknown', `has no parameter ${name}`)),
    ...missing.flatMap(({ name }) => explain(componentRef, 'ParameterMissing', `needs a value for ${name}`)),
  ];
}

function explain(name: string, reason: string, message: string): readonly Explanation[] {
  return [{ reason, because: `${name} ${message}`, blocker: { kind: 'MachineComponent', name } }];
}
