import { describe, expect, it } from 'vitest';
import { controllersCommand } from '../../../src/cli/hosting/programs.ts';

const PLANE = { cluster: 'ci', root: '/h/clusters/ci', kubeconfig: '/h/kubeconfig', port: 7 };

describe('the controllers of a hosted control plane', () => {
  it('create machines on this machine only with the flag of hosting, in the folder of their control plane', () => {
    const machines = ['--local-machines=ci', '--local-dir=/h/clusters/ci'];
    expect(controllersCommand(true)(PLANE).args).toEqual(expect.arrayContaining(machines));
    expect(controllersCommand(false)(PLANE).args.join(' ')).not.toContain('--local');
  });

  it('start with the compiled code of this process', () => {
    const { NODE_COMPILE_CACHE: folder } = process.env;
    expect(folder).toBeDefined();
    expect(controllersCommand(false)(PLANE).env).toMatchObject({ NODE_COMPILE_CACHE: folder });
  });
});
