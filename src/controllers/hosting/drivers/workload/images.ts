/**
 * Reads the file of `kubenode hosting --images`: which images run the members of control planes, by version. Images are named by digest only,
 * because a tag can mean another image after it was reviewed.
 */

import { parse } from 'yaml';
import { z } from 'zod';
import { KUBERNETES_VERSION_PATTERN } from '../../../../api/patterns.ts';
import { messageOf, OsError } from '../../../../os/errors.ts';
import { isEtcdMember, type MemberRun } from '../driver.ts';
import { RUN_PROGRAMS, roleOf, type WorkloadMember } from './names.ts';

/** `registry.example/team/etcd@sha256:…`, without a tag beside the digest, which nothing would check. */
const IMAGE = /^[a-z0-9]+(?:[._:/-]+[a-z0-9]+)*@sha256:[0-9a-f]{64}$/;
/** A tag follows a colon after the last slash; a port comes before it. */
const TAG = /:[^/]*@/;

const image = z
  .string()
  .regex(IMAGE, 'expected an image by digest, such as registry.example/etcd@sha256:… with 64 hex digits')
  .refine((text) => !TAG.test(text), 'expected an image by digest only: remove the tag');

const kubernetesVersion = z
  .string()
  .regex(new RegExp(KUBERNETES_VERSION_PATTERN.regex), `expected ${KUBERNETES_VERSION_PATTERN.description}`);

const imageSet = z.strictObject({
  /** The Kubernetes version of the images: `v1.36.3`. */
  version: kubernetesVersion,
  /** The version of the etcd beside it: `v3.6.8`. */
  etcdVersion: z.string().regex(/^v3\.\d+\.\d+$/, 'expected a version such as v3.6.8'),
  images: z.strictObject({
    etcd: image,
    'kube-apiserver': image,
    'kube-controller-manager': image,
    'kube-scheduler': image,
  }),
});

const objectName = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/, 'expected the name of an object');

const imagesFile = z.strictObject({
  versions: z.array(imageSet).min(1, 'expected at least one version'),
  /** The image of kubenode, which runs our own controllers. */
  kubenode: image,
  /** The StorageClass of the volumes of etcd. Absent: the default of the hub. */
  storageClass: objectName.optional(),
  /** The StorageClass of the volumes of backups. Absent: none are taken. */
  backupStorageClass: objectName.optional(),
  /** The PriorityClass of all members. */
  priorityClass: objectName.default('system-cluster-critical'),
});

export type WorkloadImages = Readonly<z.infer<typeof imagesFile>>;
export type ImageSet = Readonly<z.infer<typeof imageSet>>;

export function parseWorkloadImages(text: string, where: string): WorkloadImages {
  const { data, error } = imagesFile.safeParse(parsed(text, where));
  if (!data) {
    const [issue] = error.issues;
    throw invalid(where, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`, error);
  }
  const versions = data.versions.map(({ version }) => version);
  const twice = versions.find((version, index) => versions.indexOf(version) !== index);
  if (twice !== undefined) throw invalid(where, `versions: ${twice} is there twice`);
  return data;
}

function parsed(text: string, where: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw invalid(where, messageOf(error), error);
  }
}

function invalid(where: string, problem: string, cause?: unknown): OsError {
  return new OsError('BadInput', `${where} is not a valid file of images: ${problem}`, {
    where,
    hint: 'docs/guides/hosted-clusters.md has an example',
    cause,
  });
}

export function imagesOf({ versions }: WorkloadImages, version: string): ImageSet | undefined {
  return versions.find((each) => each.version === version);
}

/**
 * Returns the image of a member that is to run so. Undefined: the file does not name one. Two versions of Kubernetes may have an etcd of the same
 * version: that beside the version of the control plane comes first.
 */
export function imageFor(
  { versions, kubenode }: WorkloadImages,
  member: WorkloadMember,
  { run, version }: { readonly run: MemberRun; readonly version: string },
): string | undefined {
  const role = roleOf(member);
  if (role === 'kubenode-controllers') return run.image ?? kubenode;
  const ofPlane = versions.filter((each) => each.version === version);
  const fitting = [...ofPlane, ...versions].find((each) =>
    isEtcdMember(member)
      ? each.etcdVersion === (run.version ?? each.etcdVersion)
      : each.version === (run.version ?? version),
  );
  return fitting?.images[role];
}

/** Returns every image with a name for people, in a fixed order. */
export function listImages({ versions, kubenode }: WorkloadImages): readonly string[] {
  return [...versions.flatMap(({ images }) => RUN_PROGRAMS.map((program) => images[program])), kubenode];
}
