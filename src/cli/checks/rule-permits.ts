/**
 * Compares the steps of rules with what a commit lets the agents of the same cluster permit: their defaults, and each
 * `/etc/kubenode/jobs.json` that a MachineComponent of the commit writes. Pure.
 */
import { parseJobsConfig, permitsOf } from '../../agent/jobs/config.ts';
import { JOBS_CONFIG_FILE } from '../../agent/layout.ts';
import { GROUP } from '../../api/names.ts';
import {
  DEFAULT_PERMITS,
  isPermitted,
  type NeededPermit,
  neededPermits,
  type StepPermits,
} from '../../api/steps/permits.ts';
import type { Problem } from '../../api/validation/validate.ts';
import { listAt, textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { RenderedTarget } from '../../sync/rendered.ts';

/** The permits that a commit declares for one cluster. */
export interface DeclaredPermits {
  /** The permits, the default first, because not every machine needs to have the component. */
  readonly permits: readonly StepPermits[];
  /** Whether the commit decides what hosts permit. Otherwise a host may have a file that is not from git. */
  readonly isComplete: boolean;
}

export function declaredPermits(objects: Iterable<KubeObject>): DeclaredPermits {
  const files = [...objects].filter((object) => isOurs(object, 'MachineComponent')).flatMap(jobsFiles);
  const known = files.flatMap((file) => permitsIn(file) ?? []);
  const isComplete = files.length > 0 && known.length === files.length;
  return { permits: [DEFAULT_PERMITS, ...known], isComplete };
}

/** Refuses a step that no host can permit. Where hosts may have files of their own, `permitWarnings` warns. */
export function createPermitCheck(objects: Iterable<KubeObject>): (object: KubeObject) => readonly Problem[] {
  const declared = declaredPermits(objects);
  return (object) => (declared.isComplete ? unpermitted(object, declared).map(refusal) : []);
}

function refusal(needed: NeededPermit): Problem {
  const { path, step, of, name } = needed;
  const message = `step ${step}: no ${JOBS_CONFIG_FILE} of this commit permits ${name}: add it to ${of} in the MachineComponent that writes the file`;
  return { path, message };
}

/**
 * Returns warnings about targets of a render, each once, for `kubenode rules test|lint` and `kubenode plan`: a file outside of git may
 * permit what the commit does not.
 */
export function declaredPermitWarnings(targets: readonly RenderedTarget[]): readonly string[] {
  const all = targets.flatMap(({ units }) =>
    permitWarnings(units.flatMap(({ objects }) => objects.map(({ object }) => object))),
  );
  return [...new Set(all)];
}

function permitWarnings(objects: readonly KubeObject[]): readonly string[] {
  const declared = declaredPermits(objects);
  if (declared.isComplete) return [];
  return objects.flatMap((object) =>
    unpermitted(object, declared).map(({ path, step, of, name }) => {
      const rule = `NodeRemedier ${object.metadata.name}: ${path}`;
      const what = `agents do not permit ${step} ${name} by default`;
      return `${rule}: ${what}: unless their hosts have another ${JOBS_CONFIG_FILE}, declare that file in a MachineComponent, with ${name} in ${of}`;
    }),
  );
}

function unpermitted(object: KubeObject, { permits }: DeclaredPermits): readonly NeededPermit[] {
  if (!isOurs(object, 'NodeRemedier')) return [];
  return neededPermits(object['spec']).filter((needed) => !permits.some((each) => isPermitted(needed, each)));
}

interface JobsFile {
  readonly content: string;
  /** Whether the file replaces the one of the host. Other modes keep what the host has. */
  readonly isWhole: boolean;
}

function jobsFiles({ spec }: KubeObject): readonly JobsFile[] {
  return listAt(spec, 'files')
    .filter((file) => textAt(file, 'path') === JOBS_CONFIG_FILE)
    .map((file) => ({
      content: textAt(file, 'content') ?? '',
      isWhole: (textAt(file, 'merge') ?? 'Replace') === 'Replace',
    }));
}

/** Parses the permits of a file. Undefined when the content is only known on the host. */
function permitsIn({ content, isWhole }: JobsFile): StepPermits | undefined {
  if (!isWhole || content.includes('${')) return undefined;
  const config = parse(content);
  return typeof config === 'string' ? undefined : permitsOf(config);
}

function parse(content: string): ReturnType<typeof parseJobsConfig> {
  try {
    return parseJobsConfig(JSON.parse(content));
  } catch {
    return 'not JSON';
  }
}

function isOurs({ apiVersion, kind }: KubeObject, expected: string): boolean {
  return kind === expected && apiVersion.startsWith(`${GROUP}/`);
}
