/** Carries out one operation on the host. */
import type { HostOperation } from '../component/operation.ts';
import type { Host, UnitDefinition } from '../host/port.ts';
import { storeTarget } from '../target/store.ts';
import type { Target } from '../target/target.ts';
import { endHandOver, handOver } from '../upgrade/hand-over.ts';
import { downloadArtifact, unpackArtifact, verifyArtifact } from './artifact.ts';
import { backUp, restore, writeTargetFile } from './backup.ts';
import type { DownloadTerms } from './downloads.ts';

/** Distributes over operations that share a shape, which Extract does not. */
type OperationOf<Name extends HostOperation['op']> = HostOperation extends infer Each
  ? Each extends { readonly op: infer Op }
    ? Name extends Op
      ? Each
      : never
    : never
  : never;

type Executors = {
  readonly [Name in HostOperation['op']]: (host: Host, operation: OperationOf<Name>) => Promise<void>;
};

const EXECUTORS: Executors = {
  StoreTarget: ({ files }, { target }) => storeTarget(files, target),
  Download: (host, { target }) => loadArtifact(host, target),
  VerifyArtifact: ({ files }, { target }) =>
    withArtifact(target, (artifact) => verifyArtifact(files, artifact)),
  Unpack: (host, { target }) => unpackArtifact(host, target),
  Backup: ({ files }, { target, path }) => backUp(files, target.component, path),
  Restore: ({ files }, { target, path }) => restore(files, target, path),
  WriteFile: ({ files }, { target, path }) => writeTargetFile(files, target, path),
  Link: ({ files }, { path, to }) => files.link(path, to),
  MakeDirectory: ({ files }, { path }) => files.makeDirectory(path),
  SetAttributes: ({ files }, { path, attributes }) => files.setAttributes(path, attributes),
  WriteUnit: ({ units }, { target, unit }) => units.write(unitOf(target, unit)),
  RemoveUnit: ({ units }, { target, unit }) => units.remove(unitOf(target, unit)),
  SetEnabled: ({ units }, { target, unit }) => units.setEnabled(unit, unitOf(target, unit).enabled),
  StopUnit: ({ units }, { unit }) => units.stop(unit),
  StartUnit: ({ units }, { unit }) => units.start(unit),
  ReloadUnit: ({ units }, { unit }) => units.reload(unit),
  HandOver: (host, { upgrade }) => handOver(host, upgrade),
  EndHandOver: (host) => endHandOver(host),
  Reboot: ({ node }) => node.reboot(),
};

export async function executeOperation(host: Host, operation: HostOperation): Promise<void> {
  const execute = EXECUTORS[operation.op] as (host: Host, operation: HostOperation) => Promise<void>;
  await execute(host, operation);
}

export async function loadArtifact(
  { files, network }: Pick<Host, 'files' | 'network'>,
  target: Target,
  terms?: DownloadTerms,
): Promise<void> {
  await withArtifact(target, (artifact) => downloadArtifact(files, network, artifact, terms));
}

function unitOf({ units, ref }: Target, name: string): UnitDefinition {
  const unit = units.find((each) => each.name === name);
  if (!unit) throw new Error(`${ref} has no unit ${name}`);
  return unit;
}

async function withArtifact(
  { artifact }: Target,
  use: (artifact: NonNullable<Target['artifact']>) => Promise<void>,
): Promise<void> {
  if (artifact) await use(artifact);
}
