import { describe, expect, it } from 'vitest';
import { validate } from '../../../src/api/validation/validate.ts';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import { standInComponent, standInMachine } from '../../../src/local/kubelet/manifests.ts';

const ARTIFACT = { url: 'file:///tmp/kubelet.mjs', sha256: 'ab'.repeat(32), nodeFolder: '/opt/node/bin' };

describe('the objects of a stand-in kubelet', () => {
  it('are valid', () => {
    const component = standInComponent('1.36.3', ARTIFACT);
    expect(validate(component)).toEqual([]);
    expect(validate(standInMachine('n1', component))).toEqual([]);
  });

  it('are another version for another program, because a version never changes', () => {
    const names = [ARTIFACT, { ...ARTIFACT, sha256: 'cd'.repeat(32) }].map(
      (artifact) => standInComponent('1.36.3', artifact).metadata.name,
    );
    expect(names).toEqual(['kubelet-1.36.3-abababab', 'kubelet-1.36.3-cdcdcdcd']);
  });

  it('name the component by the digest of its content', () => {
    const component = standInComponent('1.36.3', ARTIFACT);
    const [entry] = standInMachine('n1', component).spec.components;
    expect(entry).toMatchObject({ name: 'kubelet', componentRef: component.metadata.name });
    expect(entry?.digest).toBe(digestOf(component.spec));
  });
});
