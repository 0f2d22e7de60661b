import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { MemberRun } from '../../../../../src/controllers/hosting/drivers/driver.ts';
import {
  imageFor,
  imagesOf,
  listImages,
  parseWorkloadImages,
} from '../../../../../src/controllers/hosting/drivers/workload/images.ts';
import type { WorkloadMember } from '../../../../../src/controllers/hosting/drivers/workload/names.ts';
import { hubImages } from '../../../../support/hosting/memory-hub.ts';
import { workloadImages } from '../../../../support/hosting/workload.ts';

const { priorityClass: _, ...file } = workloadImages();
const DIGEST = `sha256:${'a'.repeat(64)}`;

describe('parseWorkloadImages', () => {
  it('reads versions with their images, and has the priority of cluster services by default', () => {
    const found = parseWorkloadImages(stringify(file), 'images.yaml');
    expect(found).toEqual(workloadImages());
    expect(imagesOf(found, 'v1.36.3')?.etcdVersion).toBe('v3.6.8');
    expect(imagesOf(found, 'v1.30.0')).toBeUndefined();
    expect(listImages(found)).toHaveLength(5);
  });

  it.each<[name: string, image: string]>([
    ['a tag', 'registry.example/kubenode:0.1.0'],
    ['a tag beside the digest', `registry.example/kubenode:0.1.0@${DIGEST}`],
    ['no digest', 'registry.example/kubenode'],
    ['a digest that is too short', 'registry.example/kubenode@sha256:abc'],
    ['a digest of another kind', `registry.example/kubenode@sha512:${'a'.repeat(64)}`],
    ['an option of the shell', `--rm x@${DIGEST}`],
  ])('refuses an image with %s', (_name, kubenode) => {
    expect(() => parseWorkloadImages(stringify({ ...file, kubenode }), 'images.yaml')).toThrow(
      /images\.yaml is not a valid file of images: kubenode: expected an image by digest/,
    );
  });

  it.each([`registry.example:5000/team/kubenode@${DIGEST}`, `kubenode@${DIGEST}`])(
    'accepts %s',
    (kubenode) => {
      expect(parseWorkloadImages(stringify({ ...file, kubenode }), 'x').kubenode).toBe(kubenode);
    },
  );

  it('refuses a version that is there twice, a field that it does not know, and what is not YAML', () => {
    const { versions } = file;
    const twice = stringify({ ...file, versions: [...versions, ...versions] });
    expect(() => parseWorkloadImages(twice, 'x')).toThrow('v1.36.3 is there twice');
    expect(() => parseWorkloadImages(stringify({ ...file, tag: 'latest' }), 'x')).toThrow('tag');
    expect(() => parseWorkloadImages('versions: [', 'x')).toThrow('x is not a valid file of images');
    expect(() => parseWorkloadImages(stringify({ ...file, versions: [] }), 'x')).toThrow(
      'at least one version',
    );
  });
});

describe('the image of a member', () => {
  const images = hubImages();

  it.each<readonly [member: WorkloadMember, run: MemberRun, expected: string | undefined]>([
    ['kube-apiserver', { version: 'v1.36.3', flags: {} }, 'registry.example/kube-apiserver@sha256:2'],
    ['kube-scheduler', { version: 'v1.35.4', flags: {} }, 'registry.example/kube-scheduler@sha256:1'],
    ['kube-scheduler', { version: 'v1.30.0', flags: {} }, undefined],
    ['etcd', { version: 'v3.6.8', flags: {} }, 'registry.example/etcd@sha256:2'],
    ['etcd', { version: 'v3.4.0', flags: {} }, undefined],
    ['etcd', { flags: {} }, 'registry.example/etcd@sha256:1'],
    ['kubenode-controllers', { flags: {} }, 'registry.example/kubenode@sha256:c'],
  ])('of %s that is to run %o is that of its version', (member, run, expected) => {
    expect(digits(imageFor(images, member, { run, version: 'v1.35.4' }))).toBe(expected);
  });

  it('of our own controllers is the one that they are changed to', () => {
    const run = { flags: {}, image: 'former' };
    expect(imageFor(images, 'kubenode-controllers', { run, version: 'v1.35.4' })).toBe('former');
  });

  it('of etcd is that beside the version of the control plane, where two have an etcd of one version', () => {
    const [first, second] = images.versions;
    if (!first || !second) throw new Error('two versions are expected');
    const both = { ...images, versions: [first, { ...second, etcdVersion: first.etcdVersion }] };
    const run = { version: first.etcdVersion, flags: {} };
    expect(imageFor(both, 'etcd', { run, version: second.version })).toBe(second.images.etcd);
  });
});

/** Leaves the first digit of the digest. */
function digits(image: string | undefined): string | undefined {
  return image?.slice(0, -63);
}
