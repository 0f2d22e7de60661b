/** Defines the errors that block hosting until a person or time helps: they become a condition, and nothing is lost meanwhile. */
import { OsError, type OsErrorCode } from '../../os/errors.ts';

export type HostingErrorCode =
  | OsErrorCode
  | 'FolderNotOurs' // the folder of the control plane is of another Cluster
  | 'NamespaceNotOurs' // the namespace of the control plane is of another Cluster, or of somebody else
  | 'NamespaceLeft' // the namespace is still being deleted
  | 'NotPrepared'
  | 'PortNotAllowed' // this user may not listen on the port
  | 'HubRefused' // the API server of the hub refuses an object of the control plane
  | 'DriverNotConfigured' // this hosting was started without what the driver needs
  | 'ChangeNotSupported' // the driver does not change a control plane that exists
  | 'SnapshotRunning' // the Job that takes a snapshot has not ended
  | 'RestoreRunning' // the Job that restores a backup has not ended
  | 'RestoreBlocked' // the pod of that Job is not scheduled, or has no image; nothing is lost
  | 'MemberRestarting' // a member of etcd that was started again does not answer yet
  | 'SnapshotInvalid' // a snapshot of etcd could not be taken, or does not open
  | 'BackupMissing'
  | 'DrillFailed'
  | 'DrillPostponed'
  | 'BackupUnusable' // it is damaged, or of another version or Cluster
  | 'EtcdFull'
  | 'CorruptRecord'
  | 'DataNotOurs' // etcd has the data of another control plane
  | 'DataMissing' // etcd had data, and has none now
  | 'KeysLost' // a key that is made only once is missing, damaged or another one
  | 'EtcdRefused' // etcd did not change the list of its members
  | 'RotationOutOfOrder' // the phase of a rotation does not follow the one that is recorded
  | 'InstallFailed'
  | 'AddonNotFetched'
  | 'AddonDigestDiffers'
  | 'AddonInvalid' // the file is not one of objects that an add-on may have
  | 'AddonObjectNotOurs' // an object of that name was made by others
  | 'AddonRejected' // the API server refuses an object
  | 'AddonObjectsLeft'; // objects of a removed add-on are still being deleted

export class HostingError extends OsError<HostingErrorCode> {
  override readonly name = 'HostingError';
}
