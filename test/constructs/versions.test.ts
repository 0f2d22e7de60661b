import { describe, expect, it } from 'vitest';
import { componentRef, componentsAt } from '../../src/constructs/versions.ts';

describe('versions', () => {
  it('become the sorted components of a MachineComponentSet', () => {
    expect(componentsAt({ kubelet: '1.36.3', containerd: '2.1.0' })).toEqual([
      { name: 'containerd', componentRef: 'containerd-2.1.0' },
      { name: 'kubelet', componentRef: 'kubelet-1.36.3' },
    ]);
  });

  it('name the object of one version', () => {
    expect(componentRef('node-exporter', '1.8.2')).toBe('node-exporter-1.8.2');
  });
});
