import { expect, it } from 'vitest';
import { beginningCommand } from '../../../../../../src/controllers/hosting/drivers/process/etcd/acts.ts';

it('HOS-33 begins an etcd whose members no other control plane takes for its own', () => {
  const command = { program: 'etcd', args: ['--name=etcd', '--initial-cluster-state=existing'] };
  expect(beginningCommand(command, 'uid-ci').args).toEqual([
    '--name=etcd',
    '--initial-cluster-state=new',
    '--initial-cluster-token=uid-ci',
  ]);
});
