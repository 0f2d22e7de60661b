/** Decides whether hosting has the programs that a step needs. Pure. */
import type { PlaneMember, PlaneReport } from '../drivers/driver.ts';
import type { HostingDecision, HostingInput } from './input.ts';
import { wait, withHint } from './wait.ts';

/** Returns the wait for the programs of a version of Kubernetes or etcd. Undefined: hosting has them. */
export function programsMissing(
  { plane: { programs, place } }: HostingInput,
  needed: string,
  member: PlaneMember = 'kube-apiserver',
): HostingDecision | undefined {
  if ('problem' in programs) {
    const message = `the programs of the control plane are not there: ${programs.problem}`;
    const stalled = programs.isLoading ? undefined : 'stalled';
    return { wait: wait('ProgramsMissing', message, ['Program', 'kube-apiserver'], stalled) };
  }
  const { versions } = programs;
  if (versions.some(({ kubernetes, etcd }) => kubernetes === needed || etcd === needed)) return undefined;
  const found = versions.map(({ kubernetes }) => kubernetes);
  const message = `this hosting has the programs of ${found.join(', ')}, and not of ${needed}`;
  const hint = `set spec.hosted.version to ${found.join(' or ')}, or ${programsSource({ place }, needed)}`;
  return { wait: wait('VersionNotAvailable', withHint(message, hint), ['Program', member], 'stalled') };
}

/** Tells a person how hosting gets the programs of a version. */
export function programsSource({ place }: Pick<PlaneReport, 'place'>, version: string): string {
  return place === 'Namespace'
    ? `add ${version} to the file of --images`
    : `start hosting with --kube-assets and a folder with ${version}`;
}
