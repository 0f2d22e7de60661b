/** Finds what `kubenode release halt` and `resume` act on: a Pipeline, a Cluster, or a unit or an object of one. */
import { CLUSTERS, PIPELINES } from '../../../api/generated/resources.ts';
import type { Cluster, Pipeline } from '../../../api/generated/types.ts';
import { pauseFlag } from '../../../api/status/pauses.ts';
import type { Client } from '../../../kube/client/client.ts';
import type { Resource } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { findByName, readHub } from '../../fleet/hub-objects.ts';
import type { Io } from '../../io.ts';
import { checkUnit, type PausePart } from './pauses.ts';

export type HaltFlags = ConnectionFlags & PausePart & { readonly cluster?: string };

export interface HaltTarget {
  readonly resource: Resource;
  readonly name: string;
  readonly part: PausePart;
  readonly what: string;
  /** The command that ends its halt. */
  readonly resume: string;
  readonly object: Pipeline | Cluster;
}

export async function findHaltTarget(
  io: Io,
  client: Client,
  pipeline: string,
  { cluster, unit, object }: HaltFlags,
): Promise<HaltTarget> {
  const part = { ...optional('unit', unit), ...optional('object', object) };
  checkPart(pipeline, cluster, part);
  const resume = `kubenode release resume ${pipeline}`;
  const { pipelines, clusters } = await readHub(client, io.signal);
  const found = findByName('Pipeline', pipelines, pipeline);
  if (cluster === undefined) {
    return { resource: PIPELINES, name: pipeline, part, what: `pipeline ${pipeline}`, resume, object: found };
  }
  const inHub = findByName('Cluster', clusters, cluster);
  if (unit !== undefined) checkUnit(inHub, unit);
  return {
    resource: CLUSTERS,
    name: cluster,
    part,
    what: `${partText(part)}cluster ${cluster}`,
    resume: `${resume} --cluster ${cluster} ${pauseFlag(part)}`.trim(),
    object: inHub,
  };
}

function checkPart(pipeline: string, cluster: string | undefined, part: PausePart): void {
  if (part.unit !== undefined && part.object !== undefined) {
    throw new CliError('--unit and --object name two parts', {
      hint: 'give one of them: an object is halted in any unit',
      exitCode: EXIT.usage,
    });
  }
  if (cluster !== undefined || !isPart(part)) return;
  const flag = part.unit === undefined ? '--object' : '--unit';
  throw new CliError(`${flag} needs the cluster of the ${flag.slice(2)}`, {
    hint: `add --cluster: kubenode release halt ${pipeline} --cluster NAME ${pauseFlag(part)}`,
    exitCode: EXIT.usage,
  });
}

/** Tells whether it is less than the whole cluster. */
export function isPart({ unit, object }: PausePart): boolean {
  return unit !== undefined || object !== undefined;
}

function partText({ unit, object }: PausePart): string {
  if (object !== undefined) return `object ${object} of `;
  return unit === undefined ? '' : `unit ${unit} of `;
}

export function isCluster(object: Pipeline | Cluster): object is Cluster {
  return 'pauses' in object.spec;
}
