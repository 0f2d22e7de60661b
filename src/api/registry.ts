/** All of our kinds. */
import { cluster } from './cluster.ts';
import type { Kind } from './kind.ts';
import { pipeline } from './pipeline.ts';
import { release } from './release.ts';

export const GROUP = 'kubenode.dev';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;

/** Those of the hub first; in the order of the manual. */
export const KINDS: readonly Kind[] = [cluster, pipeline, release];
