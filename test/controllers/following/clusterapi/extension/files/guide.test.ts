import { describe, expect, it } from 'vitest';
import type { MachineComponentSpec } from '../../../../../../src/api/generated/types.ts';
import { componentFile } from '../../../../../../src/controllers/following/clusterapi/extension/files/component-file.ts';
import { bootstrapFiles } from '../../../../../../src/controllers/following/clusterapi/extension/files/kubeadm-files.ts';
import { valueAt } from '../../../../../../src/kube/objects/json.ts';
import { componentSpec } from '../../../../../support/agent/component-spec.ts';
import { guideObject } from '../../../../../support/cluster-api/guide.ts';

describe('the files of the guide about Cluster API', () => {
  it('CAP-17 are the same in the component and in the KubeadmConfigTemplate', () => {
    const template = guideObject('KubeadmConfigTemplate');
    const [path, file] = [...bootstrapFiles(valueAt(template, 'spec', 'template', 'spec'))][0] ?? [''];
    const { files } = guideObject('MachineComponent')['spec'] as MachineComponentSpec;
    const spec = componentSpec('2', { files: files.map((each) => ({ ...FILE_DEFAULTS, ...each })) });
    expect(componentFile(spec, { parameters: {} }, { path, machine: 'node-1' })).toEqual(file?.host);
  });
});

const FILE_DEFAULTS = { owner: 'root:root', merge: 'Replace' as const };
