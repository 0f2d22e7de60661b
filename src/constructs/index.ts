/** The module that a fleet repository imports: `import { Fleet, MachineSet } from 'kubenode/constructs'`. */
export type { PolicyTest, PolicyTestMachines } from '../api/validation/policy-tests.ts';
export type { ObjectMetadata } from './checked-object.ts';
export type {
  FactComparisons,
  FlagComparisons,
  NumberComparisons,
  ValueComparisons,
} from './comparisons.ts';
export {
  all,
  any,
  type ConditionComparisons,
  component,
  condition,
  diagnosis,
  disk,
  event,
  type ForDuration,
  fleet,
  history,
  type MaintenanceComparisons,
  maintenance,
  metric,
  nodeProperties as node,
  probeByName as probe,
  type WithinWindow,
  workload,
  xid,
} from './facts.ts';
export { type ClusterProps, Fleet, FleetCluster } from './fleet.ts';
export { Cluster, type ClusterProps as ClusterObjectProps } from './generated/cluster.ts';
export { DefenderLedger, type DefenderLedgerProps } from './generated/defenderledger.ts';
export { DefenderPolicy, type DefenderPolicyProps } from './generated/defenderpolicy.ts';
export { FleetAllowance, type FleetAllowanceProps } from './generated/fleetallowance.ts';
export { FleetPolicy, type FleetPolicyProps } from './generated/fleetpolicy.ts';
export { Machine, type MachineProps } from './generated/machine.ts';
export { MachineComponent, type MachineComponentProps } from './generated/machinecomponent.ts';
export { MachineComponentSet, type MachineComponentSetProps } from './generated/machinecomponentset.ts';
export { MachineSet, type MachineSetProps } from './generated/machineset.ts';
export { MaintenanceEvent, type MaintenanceEventProps } from './generated/maintenanceevent.ts';
export { NodeRemedier, type NodeRemedierProps } from './generated/noderemedier.ts';
export { Pipeline, type PipelineProps } from './generated/pipeline.ts';
export { Release, type ReleaseProps } from './generated/release.ts';
export { RemedyOperationJob, type RemedyOperationJobProps } from './generated/remedyoperationjob.ts';
export type * from './generated/types.ts';
export { HostPool, type HostPoolProps, type PoolAccess, type PoolHostProps } from './host-pool.ts';
export { type PolicyTests, policyTests } from './policy-tests.ts';
export {
  type ComponentRelease,
  type ComponentReleasesProps,
  componentReleases,
  type ReleaseDigests,
} from './releases.ts';
export { componentRef, componentsAt, type Versions } from './versions.ts';
export { YamlFile } from './yaml-file.ts';
