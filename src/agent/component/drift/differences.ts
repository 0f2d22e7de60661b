/** Where the host differs from the version in force, and what corrects it. Pure. */
import type { ComponentFile } from '../../../api/generated/types.ts';
import { isClassAtLeast } from '../../../api/machine/component-change.ts';
import type { UnitDefinition, UnitStatus } from '../../host/port.ts';
import type { DriftKind } from '../../journal/record.ts';
import type { Target } from '../../target/target.ts';
import type { ComponentObservation } from '../observe.ts';
import type { HostOperation } from '../operation.ts';
import { fileDifference, isEnabledAs, linksOf } from '../placements.ts';

export interface HostDifference {
  /** The path, or the name of the unit. */
  readonly subject: string;
  readonly kind: DriftKind;
  readonly because: string;
  /** Report: a person decides. */
  readonly policy: 'Correct' | 'Report';
  readonly operations: readonly HostOperation[];
  /** Units whose processes are wrong when they started on this. */
  readonly affects: readonly string[];
}

/** Ignores the directory of the version while its artifact is downloaded to restore it. */
export function findDifferences(
  target: Target,
  observed: ComponentObservation,
  downloading: ReadonlySet<string> = new Set(),
): readonly HostDifference[] {
  const isLoading = downloading.has(target.artifact?.sha256 ?? '');
  return [
    ...(isLoading ? [] : directoryDifferences(target, observed)),
    ...target.files
      .filter(({ drift }) => drift !== 'Ignore')
      .flatMap((file) => fileDifferences(target, file, observed)),
    ...linkDifferences(target, observed),
    ...target.units.flatMap((unit) => unitDifferences(target, unit, observed.units.get(unit.name))),
  ];
}

function directoryDifferences(target: Target, observed: ComponentObservation): readonly HostDifference[] {
  const { artifact, directory } = target;
  if (!artifact) return [];
  const isMissing = !observed.directories.has(directory);
  const subject = isMissing ? directory : changedProgram(directory, observed);
  if (subject === undefined) return attributeDifferences(directory, observed);
  const isCached = observed.artifacts.has(artifact.sha256);
  const operations = [
    ...(isCached ? [] : ['Download' as const]),
    'VerifyArtifact' as const,
    'Unpack' as const,
  ];
  return [
    {
      subject,
      kind: isMissing ? 'Missing' : 'Content',
      because: `${subject} ${isMissing ? 'is missing' : 'has other content'}`,
      policy: 'Correct',
      operations: operations.map((op) => ({ op, target })),
      affects: target.units.map(({ name }) => name),
    },
  ];
}

/** A program that may not be executed, or that another user may change. */
function attributeDifferences(
  directory: string,
  { programs }: ComponentObservation,
): readonly HostDifference[] {
  return [...programs].flatMap(
    ([path, { attributes, expectedAttributes: expected }]): HostDifference | [] => {
      if (!path.startsWith(`${directory}/`) || !attributes || !expected) return [];
      const isSameMode = attributes.mode === expected.mode;
      if (isSameMode && attributes.owner === expected.owner) return [];
      const because = isSameMode
        ? `belongs to ${attributes.owner}, not to ${expected.owner}`
        : `has mode ${attributes.mode}, not ${expected.mode}`;
      return {
        subject: path,
        kind: 'Mode',
        because: `${path} ${because}`,
        policy: 'Correct',
        operations: [{ op: 'SetAttributes', path, attributes: expected }],
        affects: [],
      };
    },
  );
}

function changedProgram(directory: string, { programs }: ComponentObservation): string | undefined {
  const inDirectory = [...programs].filter(([path]) => path.startsWith(`${directory}/`));
  return inDirectory.find(([, { found, expected }]) => expected !== undefined && found !== expected)?.[0];
}

function fileDifferences(
  target: Target,
  file: ComponentFile,
  observed: ComponentObservation,
): readonly HostDifference[] {
  const because = fileDifference(file, observed);
  if (because === undefined) return [];
  const kind = fileKind(file, because, observed);
  const units = file.units.length > 0 ? file.units : target.units.map(({ name }) => name);
  // Mode and owner matter to no process that runs already.
  const effect = kind === 'Mode' ? 'None' : file.onChange;
  const reloads =
    effect === 'Reload' ? units.filter((name) => observed.units.get(name)?.active === 'Active') : [];
  return [
    {
      subject: file.path,
      kind,
      because,
      policy: file.drift === 'Report' ? 'Report' : 'Correct',
      operations: [
        { op: 'WriteFile', target, path: file.path },
        ...reloads.map((unit) => ({ op: 'ReloadUnit', target, unit }) as const),
      ],
      affects: isClassAtLeast(effect, 'Restart') ? units : [],
    },
  ];
}

function fileKind({ path }: ComponentFile, because: string, { files }: ComponentObservation): DriftKind {
  const found = files.get(path);
  if (!found) return 'Missing';
  return found.type !== 'File' || because.startsWith(`${path} has other content`) ? 'Content' : 'Mode';
}

function linkDifferences(target: Target, observed: ComponentObservation): readonly HostDifference[] {
  return linksOf(target).flatMap(({ path, target: to }): HostDifference | [] => {
    const found = observed.files.get(path);
    if (found?.target === to) return [];
    return {
      subject: path,
      kind: found ? 'Content' : 'Missing',
      because: `${path} is not a link to ${to}`,
      policy: 'Correct',
      operations: [{ op: 'Link', path, to }],
      affects: [],
    };
  });
}

function unitDifferences(
  target: Target,
  unit: UnitDefinition,
  status: UnitStatus | undefined,
): readonly HostDifference[] {
  const { name } = unit;
  const definition = [definitionProblem(status), enabledProblem(unit, status)];
  const affects = status?.defined === false ? [name] : [];
  return [
    ...unitDifference(target, name, { kind: 'Unit', problems: definition, affects }),
    ...unitDifference(target, name, { kind: 'Run', problems: [runProblem(unit, status)], affects: [] }),
    ...suspendedDifference(unit, status),
  ];
}

/** A person may be looking at it: it is not continued, and rules may restart it. */
function suspendedDifference(
  { name, running }: UnitDefinition,
  status: UnitStatus | undefined,
): readonly HostDifference[] {
  const { pid, isSuspended } = status?.process ?? {};
  if (!running || !isSuspended) return [];
  return [
    {
      subject: name,
      kind: 'Run',
      because: `process ${pid} of unit ${name} is stopped by a signal, and answers nothing until: kill -CONT ${pid}`,
      policy: 'Report',
      operations: [],
      affects: [],
    },
  ];
}

interface UnitProblems extends Pick<HostDifference, 'kind' | 'affects'> {
  readonly problems: readonly (UnitProblem | undefined)[];
}

function unitDifference(
  target: Target,
  name: string,
  { kind, problems, affects }: UnitProblems,
): readonly HostDifference[] {
  const found = problems.filter((each) => each !== undefined);
  if (found.length === 0) return [];
  return [
    {
      subject: name,
      kind,
      because: `unit ${name} ${found.map(({ text }) => text).join(', ')}`,
      policy: 'Correct',
      operations: found.map(({ op }) => ({ op, target, unit: name })),
      affects,
    },
  ];
}

interface UnitProblem {
  readonly op: 'WriteUnit' | 'SetEnabled' | 'StartUnit' | 'StopUnit';
  readonly text: string;
}

function definitionProblem(status: UnitStatus | undefined): UnitProblem | undefined {
  if (status?.defined) return undefined;
  return { op: 'WriteUnit', text: status ? 'has another definition' : 'is missing' };
}

function enabledProblem(unit: UnitDefinition, status: UnitStatus | undefined): UnitProblem | undefined {
  if (status && isEnabledAs(unit, status)) return undefined;
  if (status?.masked) return { op: 'SetEnabled', text: 'is masked' };
  return { op: 'SetEnabled', text: unit.enabled ? 'is not enabled' : 'is enabled' };
}

function runProblem({ running }: UnitDefinition, status: UnitStatus | undefined): UnitProblem | undefined {
  const { active, result, evidence } = status ?? { active: 'Inactive' };
  if (!running) return active === 'Active' ? { op: 'StopUnit', text: 'runs' } : undefined;
  const ended = `${result === undefined ? '' : ` (${result})`}${evidence === undefined ? '' : `; ${evidence}`}`;
  if (active === 'Failed') return { op: 'StartUnit', text: `has failed${ended}` };
  return active === 'Inactive' ? { op: 'StartUnit', text: `does not run${ended}` } : undefined;
}
