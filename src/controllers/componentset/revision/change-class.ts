/** Tells how much a change of a component disturbs a machine, before its agent stages it. Pure. */
import type { ActivationClass, Risk } from '../../../api/enums.ts';
import type {
  ComponentArtifact,
  ComponentFile,
  ComponentUnit,
  MachineComponentSpec,
} from '../../../api/generated/types.ts';
import {
  type ComponentContent,
  changeBetween,
  isClassAtLeast,
} from '../../../api/machine/component-change.ts';
import { byCode, canonicalJson, digestOf } from '../../../kube/objects/digest.ts';
import { isRecord, listAt, ownValue, valueAt } from '../../../kube/objects/json.ts';

export interface VersionContent {
  readonly spec: MachineComponentSpec;
  readonly parameters: Readonly<Record<string, string>>;
}

/** The content that a host has. Unknown: it was not observed. */
export type HostContent = VersionContent | 'Absent' | 'Unknown';

export interface ClassifiedChange {
  readonly class: ActivationClass;
  readonly because: string;
}

/**
 * Fields that this program knows. Only artifacts, files and units are on the host; parameters and ports are in their text. No
 * process needs to know the others.
 */
const SPEC_FIELDS: Readonly<Record<keyof MachineComponentSpec, true>> = {
  component: true,
  version: true,
  description: true,
  identity: true,
  parameters: true,
  ports: true,
  artifacts: true,
  files: true,
  units: true,
  probes: true,
  stateDirectories: true,
  networkInterfaces: true,
  activation: true,
  commitAfterSeconds: true,
  keepVersions: true,
  rollback: true,
  dependsOn: true,
  compat: true,
};

const ITEM_FIELDS: {
  readonly files: Readonly<Record<keyof ComponentFile, true>>;
  readonly artifacts: Readonly<Record<keyof ComponentArtifact, true>>;
  readonly units: Readonly<Record<keyof ComponentUnit, true>>;
} = {
  files: {
    path: true,
    content: true,
    mode: true,
    owner: true,
    merge: true,
    drift: true,
    onChange: true,
    units: true,
  },
  artifacts: {
    os: true,
    arch: true,
    url: true,
    mirrors: true,
    sha256: true,
    sizeBytes: true,
    format: true,
    install: true,
  },
  units: {
    name: true,
    type: true,
    enabled: true,
    running: true,
    timeoutSeconds: true,
    exec: true,
    restart: true,
    stop: true,
    reload: true,
    raw: true,
    existing: true,
    dropIns: true,
  },
};

/** Returns the class of a change. A change that cannot be compared counts as Drain at least. */
export function classifyChange(before: HostContent, after: HostContent): ClassifiedChange {
  if (before === 'Unknown' || after === 'Unknown') {
    return { class: 'Drain', because: 'the content before or after the change is unknown' };
  }
  const [from, to] = [contentOf(before), contentOf(after)];
  const { class: found, because } = changeBetween(from, to);
  const unknown = unknownFields(before, after);
  if (unknown.length === 0) return { class: found, because };
  const least = isClassAtLeast(found, 'Drain') ? found : 'Drain';
  return { class: least, because: `unknown field ${unknown.join(', ')} changed` };
}

export function worstClass(classes: readonly ActivationClass[]): ActivationClass {
  return classes.reduce((worst, each) => (isClassAtLeast(worst, each) ? worst : each), 'None');
}

const RISK_OF: Readonly<Record<ActivationClass, Risk>> = {
  None: 'None',
  Reload: 'None',
  Restart: 'Pod',
  Drain: 'Node',
  Reboot: 'Node',
};

/** Returns the risk of a change. A machine that was never Ready runs no pods that a change could disturb. */
export function riskOf(of: ActivationClass, isEstablished: boolean): Risk {
  return isEstablished ? RISK_OF[of] : 'None';
}

/** Returns the changed fields of a newer API that this program does not know, also those inside of files, artifacts and units. */
function unknownFields(before: HostContent, after: HostContent): readonly string[] {
  const [from, to] = [before, after].map(unknownValues);
  if (!from || !to) return [];
  const fields = new Set([...from.keys(), ...to.keys()]);
  return [...fields].filter((field) => from.get(field) !== to.get(field)).toSorted(byCode);
}

function unknownValues(content: HostContent): ReadonlyMap<string, string> | undefined {
  const spec = valueAt(content, 'spec');
  if (!isRecord(spec)) return undefined;
  const values = unknownIn(spec, SPEC_FIELDS, '');
  const nested = (['files', 'artifacts', 'units'] as const).flatMap((list) =>
    listAt(spec, list).flatMap((item, index) => unknownIn(item, ITEM_FIELDS[list], `${list}[${index}].`)),
  );
  return new Map([...values, ...nested]);
}

function unknownIn(
  item: unknown,
  known: Readonly<Record<string, unknown>>,
  prefix: string,
): readonly (readonly [string, string])[] {
  if (!isRecord(item)) return [];
  return Object.entries(item)
    .filter(([field]) => !Object.hasOwn(known, field))
    .map(([field, value]) => [`${prefix}${field}`, canonicalJson(value)] as const);
}

/**
 * Returns the content that is compared. A change of the artifact of any platform counts: the class is that of the set, and at
 * least that of each machine.
 */
function contentOf(of: VersionContent | 'Absent'): ComponentContent | undefined {
  if (of === 'Absent') return undefined;
  const { spec } = of;
  const replace = replacerFor(of);
  return {
    directory: directoryOf(spec),
    activation: spec.activation.class,
    files: replaceTexts(spec.files, replace),
    units: replaceTexts(spec.units, replace),
    ...artifactOf(spec),
  };
}

/** Returns an artifact that differs if the artifact of any platform does. */
function artifactOf({ artifacts }: MachineComponentSpec): Pick<ComponentContent, 'artifact'> {
  const [first] = artifacts;
  if (!first) return {};
  const sha256 = digestOf(artifacts.map(({ os, arch, sha256: each, format }) => [os, arch, each, format]));
  return { artifact: { ...first, sha256, install: artifacts.flatMap(({ install }) => install) } };
}

const PLACEHOLDER = /\$\{(dir|param\.[A-Za-z0-9-]+|port\.[A-Za-z0-9-]+)\}/g;

/** The others have the same value before and after the change. */
function replacerFor({ spec, parameters }: VersionContent): (text: string) => string {
  const values = new Map([
    ['dir', directoryOf(spec)],
    ...spec.parameters.map(
      ({ name, default: value = '' }) => [`param.${name}`, ownValue(parameters, name) ?? value] as const,
    ),
    ...spec.ports.map(({ name, port }) => [`port.${name}`, String(port)] as const),
  ]);
  return (text) => text.replaceAll(PLACEHOLDER, (whole, name: string) => values.get(name) ?? whole);
}

/** Returns a directory that is another one for each version, as on the host. */
function directoryOf({ component, version }: MachineComponentSpec): string {
  return `/${component}/${version}`;
}

/** No name of a unit or file can contain a placeholder, so every text may be replaced. */
function replaceTexts<T>(value: T, replace: (text: string) => string): T {
  return JSON.parse(JSON.stringify(value), (_key, inner: unknown) =>
    typeof inner === 'string' ? replace(inner) : inner,
  ) as T;
}
