/** The executors of the agent, by step. */
import type { StepOfAgent } from '../step-table.ts';
import { cleanDiskStep } from './clean-disk.ts';
import { collectDiagnosticsStep } from './collect-diagnostics.ts';
import type { StepExecutor } from './executor.ts';
import { rearmDetectorStep } from './rearm-detector.ts';
import { rebootStep } from './reboot.ts';
import { reinstallComponentStep } from './reinstall-component.ts';
import { resetGpuStep } from './reset-gpu.ts';
import { restartServiceStep } from './restart-service.ts';

/** A step of the agent that is missing here does not compile. */
const EXECUTORS = {
  CleanDisk: cleanDiskStep,
  CollectDiagnostics: collectDiagnosticsStep,
  RearmDetector: rearmDetectorStep,
  ReinstallComponent: reinstallComponentStep,
  RestartService: restartServiceStep,
  Reboot: rebootStep,
  ResetGPU: resetGpuStep,
} as const satisfies { readonly [S in StepOfAgent]: StepExecutor<S> };

/** Returns the executor. Undefined for a step that the agent does not carry out. */
export function executorOf(step: string): StepExecutor | undefined {
  const all: Readonly<Record<string, unknown>> = EXECUTORS;
  return Object.hasOwn(all, step) ? (all[step] as StepExecutor) : undefined;
}
