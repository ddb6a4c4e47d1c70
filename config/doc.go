// Package config reads workbench-config.json and turns it into checked values.
package config
