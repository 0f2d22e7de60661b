/** A checked configuration of one monitor, in the units that the detector uses. */
import type { ProgramRights } from '../../host/port.ts';
import type { GoPattern } from '../pattern/pattern.ts';
import type { TimeLayout } from './time-layout.ts';

export type MonitorConfig = LogMonitorConfig | PluginMonitorConfig;

interface CommonMonitorConfig {
  /** Name of the file that it was read from. */
  readonly file: string;
  /** Reports its Events. */
  readonly source: string;
  /** Their values while nothing is wrong. */
  readonly conditions: readonly DefaultCondition[];
}

export interface DefaultCondition {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  /** The condition becomes False this time after the last line that raised it. */
  readonly clearAfterMs?: number;
}

export interface LogMonitorConfig extends CommonMonitorConfig {
  readonly kind: 'Log';
  readonly input: LogInput;
  /** Lines of that much time before the start count, too, if they are of this boot. */
  readonly lookbackMs: number;
  /** Lines of that much time after the boot do not count. */
  readonly delayMs: number;
  /** Lines that a pattern may span. */
  readonly bufferSize: number;
  /** Lines that contain one of these texts do not count. */
  readonly skipList: readonly string[];
  readonly rules: readonly LogRule[];
}

export type LogInput =
  | { readonly plugin: 'kmsg' }
  | { readonly plugin: 'journald'; readonly identifier: string; readonly directory?: string }
  | { readonly plugin: 'filelog'; readonly path: string; readonly format: LineFormat };

/** How time and message are found in a line: the last group of each pattern. */
export interface LineFormat {
  readonly timestamp: GoPattern;
  readonly message: GoPattern;
  readonly layout: TimeLayout;
}

interface CommonRule {
  readonly reason: string;
  /** Raised by a permanent rule. A temporary rule only reports Events. */
  readonly condition?: string;
}

export interface LogRule extends CommonRule {
  /** Matches to the end of the buffered lines. */
  readonly pattern: GoPattern;
  /** Is appended to the lines of a match, as advice for people. */
  readonly suffix?: string;
  /** The condition is True only while the window has at least that many lines. */
  readonly window?: RuleWindow;
}

export interface RuleWindow {
  readonly count: number;
  readonly windowMs: number;
}

export interface PluginMonitorConfig extends CommonMonitorConfig {
  readonly kind: 'Plugin';
  readonly maxOutputLength: number;
  readonly concurrency: number;
  /** A new message of a condition that stays True is reported, too. */
  readonly reportsMessageChanges: boolean;
  /** Nothing is reported before the first result. */
  readonly skipsInitialStatus: boolean;
  /** The rights of the plug-in. Without them it runs as root on the host, as under node-problem-detector. */
  readonly rights?: ProgramRights;
  readonly rules: readonly PluginRule[];
}

export interface PluginRule extends CommonRule {
  readonly path: string;
  readonly args: readonly string[];
  readonly timeoutMs: number;
  readonly intervalMs: number;
}

/** A field has a wrong value. */
export class ConfigError extends Error {
  constructor(place: string, problem: string) {
    super(place === '' ? problem : `${place}: ${problem}`);
    this.name = 'ConfigError';
  }
}
