/**
 * Computes the differences between two versions of a component on a host, and the least that units must do about them. The agent acts on
 * it, and the component set controller derives from it what to ask for. Pure. No npm package here.
 */
import { canonicalJson } from '../../kube/objects/digest.ts';
import { type ActivationClass, CLASSES } from '../enums.ts';
import type { ComponentArtifact, ComponentFile, ComponentUnit } from '../generated/types.ts';

/** Holds what a version puts on a host, placeholders replaced. */
export interface ComponentContent {
  /** The directory of the version, `${dir}`. */
  readonly directory: string;
  readonly artifact?: Pick<ComponentArtifact, 'sha256' | 'format' | 'install'>;
  readonly files: readonly ComponentFile[];
  readonly units: readonly ComponentUnit[];
  readonly activation: ActivationClass;
}

export interface ComponentChange {
  /** The most disruptive class of all differences. */
  readonly class: ActivationClass;
  /** The units that stop before the files are swapped. They start again afterwards if the new target has them. */
  readonly stop: ReadonlySet<string>;
  /** The units that reload after the files are swapped. */
  readonly reload: ReadonlySet<string>;
  /** The explanation for people, in one sentence. */
  readonly because: string;
}

interface Difference {
  readonly class: ActivationClass;
  readonly units: readonly string[];
  readonly because: string;
}

/** Returns the change between two contents. Undefined stands for: not installed. */
export function changeBetween(
  from: ComponentContent | undefined,
  to: ComponentContent | undefined,
): ComponentChange {
  const differences = [
    ...artifactDifference(from, to),
    ...unitDifferences(from, to),
    ...fileDifferences(from, to),
  ].map((each) => withoutReload(each, to ?? from));
  const units = (matches: (of: ActivationClass) => boolean): Set<string> =>
    new Set(differences.filter((each) => matches(each.class)).flatMap((each) => each.units));
  const stop = units((each) => isClassAtLeast(each, 'Restart'));
  const reload = units((each) => each === 'Reload');
  return {
    class: mostDisruptive(differences.map((each) => each.class)),
    stop,
    reload: new Set([...reload].filter((name) => !stop.has(name))),
    because: differences.map((each) => each.because).join(', ') || 'no difference',
  };
}

export function isClassAtLeast(found: ActivationClass, least: ActivationClass): boolean {
  return CLASSES.indexOf(found) >= CLASSES.indexOf(least);
}

function mostDisruptive(classes: readonly ActivationClass[]): ActivationClass {
  return classes.reduce<ActivationClass>((most, each) => (isClassAtLeast(each, most) ? each : most), 'None');
}

function artifactDifference(
  from: ComponentContent | undefined,
  to: ComponentContent | undefined,
): Difference[] {
  if (!from || !to || sameArtifact(from, to)) return [];
  return [{ class: to.activation, units: to.units.map(({ name }) => name), because: 'artifact changed' }];
}

function sameArtifact(from: ComponentContent, to: ComponentContent): boolean {
  return onHost(from.artifact) === onHost(to.artifact);
}

/** Returns the artifact as text, to compare it. The same bytes are other content when they are unpacked instead of copied. */
function onHost(artifact: ComponentContent['artifact']): string {
  return canonicalJson(artifact && [artifact.sha256, artifact.format, artifact.install]);
}

function unitDifferences(from: ComponentContent | undefined, to: ComponentContent | undefined): Difference[] {
  const before = new Map(from?.units.map((unit) => [unit.name, unit]));
  const after = new Map(to?.units.map((unit) => [unit.name, unit]));
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const [old, next] = [before.get(name), after.get(name)];
    const because = unitChange(old, next, { from, to });
    if (!because) return [];
    return [{ class: unitClass(old, next, { from, to }), units: [name], because: `unit ${name} ${because}` }];
  });
}

interface Ends {
  readonly from: ComponentContent | undefined;
  readonly to: ComponentContent | undefined;
}

function unitChange(
  old: ComponentUnit | undefined,
  next: ComponentUnit | undefined,
  { from, to }: Ends,
): string | undefined {
  if (!old) return 'added';
  if (!next) return 'removed';
  return independentOfDirectory(old, from, to) === independentOfDirectory(next, to, to)
    ? undefined
    : 'changed';
}

/** Returns the class of a change of a unit. A new unit disturbs nothing. What is taken over from the host, or given back, runs already. */
function unitClass(
  old: ComponentUnit | undefined,
  next: ComponentUnit | undefined,
  { from, to }: Ends,
): ActivationClass {
  const declared = (to ?? from)?.activation ?? 'Restart';
  if (changesHands(old, next)) return declared;
  return old ? mostDisruptive(['Restart', declared]) : 'None';
}

function changesHands(old: ComponentUnit | undefined, next: ComponentUnit | undefined): boolean {
  const only = old && next ? undefined : (old ?? next);
  return only?.existing === true;
}

/**
 * Returns a value as text without the directory of its version. Another version directory with the same artifact does not count as a
 * difference: a new version of a component that changes one file must not restart what only mentions `${dir}`.
 */
function independentOfDirectory(
  value: unknown,
  of: ComponentContent | undefined,
  to: ComponentContent | undefined,
): string {
  const text = canonicalJson(value);
  return of && to && sameArtifact(of, to) ? text.replaceAll(of.directory, '') : text;
}

function fileDifferences(from: ComponentContent | undefined, to: ComponentContent | undefined): Difference[] {
  const before = new Map(from?.files.map((file) => [file.path, file]));
  const after = new Map(to?.files.map((file) => [file.path, file]));
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((path) => {
    const [old, next] = [before.get(path), after.get(path)];
    if (isSameContent(old, next, { from, to })) return [];
    return fileDifference((next ?? old) as ComponentFile, { from, to });
  });
}

/** Tells whether the content is the same. Mode and owner are set on the file; no process needs to know. */
function isSameContent(
  old: ComponentFile | undefined,
  next: ComponentFile | undefined,
  { from, to }: Ends,
): boolean {
  const content = (file: ComponentFile | undefined, of: ComponentContent | undefined): string =>
    independentOfDirectory([file?.content, file?.merge], of, to);
  return Boolean(old) === Boolean(next) && content(old, from) === content(next, to);
}

function fileDifference(file: ComponentFile, { from, to }: Ends): Difference[] {
  const units = affectedUnits(file, (to ?? from)?.units ?? []).filter((name) =>
    runsAlready(name, { from, to }),
  );
  // Without a running unit the change disturbs nothing, except a class that concerns the whole node.
  const least = from && isClassAtLeast(file.onChange, 'Drain') ? file.onChange : 'None';
  const because = `file ${file.path} changed`;
  return [{ class: units.length > 0 ? file.onChange : least, units, because }];
}

function affectedUnits(file: ComponentFile, units: readonly ComponentUnit[]): readonly string[] {
  return file.units.length > 0 ? file.units : units.map(({ name }) => name);
}

function runsAlready(name: string, { from, to }: Ends): boolean {
  const before = from?.units ?? to?.units.filter(({ existing }) => existing) ?? [];
  return before.some((unit) => unit.name === name);
}

/** Turns a reload into a restart where a unit cannot reload. */
function withoutReload(difference: Difference, target: ComponentContent | undefined): Difference {
  if (difference.class !== 'Reload') return difference;
  const cannot = difference.units.filter((name) => !target?.units.find((unit) => unit.name === name)?.reload);
  return cannot.length > 0 ? { ...difference, class: 'Restart' } : difference;
}
