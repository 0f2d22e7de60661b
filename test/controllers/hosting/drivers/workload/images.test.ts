import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import {
  imagesOf,
  listImages,
  parseWorkloadImages,
} from '../../../../../src/controllers/hosting/drivers/workload/images.ts';
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
