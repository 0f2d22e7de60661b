/** The errors with which the driver refuses an act, each with the way on. */
import { HostingError } from '../../../errors.ts';
import type { PlaneMember } from '../../driver.ts';
import type { PlaneFolder } from '../folder.ts';
import type { MemberSpec } from '../member-spec.ts';

export function dataNotOurs({ layout }: PlaneFolder): HostingError {
  const { dataFolder } = layout.etcd;
  return new HostingError(
    'DataNotOurs',
    `${dataFolder} has the data of another control plane, or of one that is not known`,
    {
      where: dataFolder,
      hint: 'restore the data of this control plane, or delete the Cluster and create it again',
    },
  );
}

export function notPrepared({ layout }: Pick<PlaneFolder, 'layout'>, member: PlaneMember): HostingError {
  return new HostingError('NotPrepared', `${member} cannot be started: keys or programs are missing`, {
    where: layout.root,
    hint: 'nothing to do: hosting prepares them first',
  });
}

export function portInUse({ port, member }: Pick<MemberSpec, 'port' | 'member'>): HostingError {
  return new HostingError('PortInUse', `port ${port} of ${member} is in use by another program`, {
    where: `127.0.0.1:${port}`,
    hint: `stop that program; find it with: ss -ltnp 'sport = :${port}'`,
  });
}
