import { type Command } from 'commander';
import { type CommandContext } from '../command-context';
/** placeholder */
export function addDemoCommand(_program: Command, _context: CommandContext): void {}
