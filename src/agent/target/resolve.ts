/** Makes a target from an entry of the Machine, its MachineComponent and the facts of this machine. Pure. */

import type {
  ComponentArtifact,
  ComponentUnit,
  MachineComponentEntry,
  MachineComponentSpec,
} from '../../api/generated/types.ts';
import { unknownText } from '../../api/machine/component-problems.ts';
import { replaceTemplates } from '../../api/machine/component-templates.ts';
import { entryDigest } from '../../api/machine/entry-content.ts';
import { digestOf } from '../../kube/objects/digest.ts';
import { optional } from '../../kube/objects/optional.ts';
import { AGENT_COMPONENT, versionDirectory } from '../layout.ts';
import type { TargetFacts } from './facts.ts';
import { createReplacer } from './placeholders.ts';
import type { Target } from './target.ts';

export type ResolvedTarget = { readonly target: Target } | { readonly problem: TargetProblem };

/** The reason why an entry cannot become a target: the last accepted target remains in force. */
export interface TargetProblem {
  readonly code:
    | 'WrongDigest'
    | 'WrongComponent'
    | 'NoArtifact'
    | 'MissingParameter'
    | 'UnknownPlaceholder'
    | 'NotSupported';
  readonly message: string;
}

export function resolveTarget(
  entry: MachineComponentEntry,
  spec: MachineComponentSpec,
  machine: TargetFacts,
): ResolvedTarget {
  const problem = entryProblem(entry, spec, machine);
  if (problem) return { problem };
  const directory = versionDirectory(spec.component, spec.version, entry.digest);
  const ports = Object.fromEntries(
    spec.ports.map((port) => [port.name, machine.portOf(spec.component, port)]),
  );
  const replacer = createReplacer({ entry, spec, machine, directory, ports });
  const { files, units, probes } = replaceTemplates(spec, replacer.replace);
  const target: Target = {
    id: entryDigest(entry),
    component: spec.component,
    version: spec.version,
    ref: entry.componentRef,
    digest: entry.digest,
    directory,
    identity: spec.identity,
    ...resolveArtifact(spec, machine),
    files,
    units: units.map((unit) => ({ ...unit, component: spec.component })),
    probes,
    ...optional('stateDirectories', spec.stateDirectories),
    ...optional('networkInterfaces', spec.networkInterfaces),
    ports,
    activation: spec.activation.class,
    commitAfterSeconds: spec.commitAfterSeconds,
    keepVersions: spec.keepVersions,
    rollbackSupported: spec.rollback.supported,
    dependsOn: spec.dependsOn,
  };
  if (replacer.unknown.size === 0) return { target };
  return {
    problem: { code: 'UnknownPlaceholder', message: unknownText(replacer, ` in ${entry.componentRef}`) },
  };
}

function entryProblem(
  entry: MachineComponentEntry,
  spec: MachineComponentSpec,
  machine: TargetFacts,
): TargetProblem | undefined {
  const { name, componentRef, digest } = entry;
  const found = digestOf(spec);
  if (found !== digest) {
    return {
      code: 'WrongDigest',
      message: `the content of ${componentRef} has digest ${found}, the entry names ${digest}`,
    };
  }
  if (spec.component !== name) {
    return {
      code: 'WrongComponent',
      message: `${componentRef} is a version of ${spec.component}, not of ${name}`,
    };
  }
  return (
    parameterProblem(entry, spec) ??
    agentProblem(componentRef, spec) ??
    supportProblem(componentRef, spec, machine)
  );
}

function parameterProblem(
  { componentRef, parameters }: MachineComponentEntry,
  spec: MachineComponentSpec,
): TargetProblem | undefined {
  const missing = spec.parameters.filter(
    (each) => parameters[each.name] === undefined && each.default === undefined,
  );
  if (missing.length === 0) return undefined;
  const names = missing.map((each) => each.name).join(', ');
  return { code: 'MissingParameter', message: `${componentRef} needs a value for ${names}` };
}

/** Returns what this machine cannot run. */
function supportProblem(
  ref: string,
  spec: MachineComponentSpec,
  machine: TargetFacts,
): TargetProblem | undefined {
  const artifact = artifactFor(spec, machine);
  if (spec.artifacts.length > 0 && !artifact) {
    return { code: 'NoArtifact', message: `${ref} has no artifact for ${machine.os}/${machine.arch}` };
  }
  const unsupported = machine.systemdUnits ? undefined : spec.units.find(needsSystemd);
  if (unsupported) {
    const message = `${ref}: unit ${unsupported.name} needs systemd, and this machine is a sandbox`;
    return { code: 'NotSupported', message };
  }
  return undefined;
}

/**
 * Returns what is wrong with a component that is the agent. The agent starts itself and proves itself; a watchdog could not take back files
 * and units.
 */
function agentProblem(
  ref: string,
  { component, artifacts, files, units, probes }: MachineComponentSpec,
): TargetProblem | undefined {
  if (component !== AGENT_COMPONENT) return undefined;
  if (artifacts.length > 0 && files.length + units.length + probes.length === 0) return undefined;
  const what = `${component} is the agent itself: it has an artifact, and no files, units and probes`;
  return { code: 'NotSupported', message: `${ref}: ${what}` };
}

function needsSystemd({ exec, raw, existing, dropIns }: ComponentUnit): boolean {
  return !exec || raw !== undefined || existing || dropIns.length > 0;
}

/** Returns the most specific artifact: one for this platform before one for `any`. */
function artifactFor(spec: MachineComponentSpec, machine: TargetFacts): ComponentArtifact | undefined {
  return spec.artifacts
    .filter(
      ({ os, arch }) => (os === 'any' || os === machine.os) && (arch === 'any' || arch === machine.arch),
    )
    .toSorted((a, b) => specificity(b) - specificity(a))[0];
}

function specificity({ os, arch }: ComponentArtifact): number {
  return Number(os !== 'any') + Number(arch !== 'any');
}

function resolveArtifact(spec: MachineComponentSpec, machine: TargetFacts): Pick<Target, 'artifact'> {
  const found = artifactFor(spec, machine);
  if (!found) return {};
  const { os: _os, arch: _arch, ...artifact } = found;
  return { artifact };
}
