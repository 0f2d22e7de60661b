/** vitest's globalSetup of the projects with a real API server: one etcd for the whole run. */
import type { TestProject } from 'vitest/node';
import { closeRun, openRun, type Run } from './control-plane-run.ts';

declare module 'vitest' {
  interface ProvidedContext {
    controlPlaneRun: Run;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const run = await openRun();
  project.provide('controlPlaneRun', run);
  return () => closeRun(run);
}
