package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/pratique-dev/pratique/registry/node"
)

// configName is the configuration file in a data folder. Every command that
// takes --data reads it, so that they all decide by the same settings.
const configName = "pratique.yaml"

const maxConfig = 1 << 20

// config is the configuration of a command: the file, then PRATIQUE_*, then
// flags.
func (c *call) config() (node.Config, error) {
	var cfg node.Config
	data, file := c.str("data"), c.str("config")
	if file == "" && data == "" {
		data = defaultData()
	}
	if file == "" {
		file = filepath.Join(data, configName)
		if !exists(file) {
			file = ""
		}
	}
	if file != "" {
		raw, err := c.readFile(file, maxConfig)
		if err != nil {
			return cfg, err
		}
		if cfg, err = parseConfig(file, raw); err != nil {
			return cfg, err
		}
		besideFile(&cfg, filepath.Dir(file))
	}
	if err := overrideConfig(&cfg, os.LookupEnv); err != nil {
		return cfg, err
	}
	switch {
	case c.has("data"), cfg.Data == "" && file == "":
		cfg.Data = data
	case cfg.Data == "":
		cfg.Data = filepath.Dir(file) // a file in its own data folder need not name it
	}
	c.flagConfig(&cfg)
	return cfg, nil
}

// besideFile has the files that a configuration names start at its own folder.
func besideFile(cfg *node.Config, dir string) {
	paths := []*string{&cfg.Policy, &cfg.Effects.File, &cfg.Inspector.Model.KeyFile, &cfg.Inspector.Model.CAFile}
	if len(cfg.Inspector.Model.Command) > 0 {
		paths = append(paths, &cfg.Inspector.Model.Command[0])
	}
	for i := range cfg.Upstreams {
		paths = append(paths, &cfg.Upstreams[i].HeadersFile, &cfg.Upstreams[i].Policy)
	}
	for _, list := range [][]string{cfg.Effects.Keys, cfg.Effects.Catalogues} {
		for i := range list {
			paths = append(paths, &list[i])
		}
	}
	for _, p := range paths {
		if *p != "" && !filepath.IsAbs(*p) {
			*p = filepath.Join(dir, *p)
		}
	}
}

// flagConfig puts the flags that a command has over the settings.
func (c *call) flagConfig(cfg *node.Config) {
	for name, p := range map[string]*string{
		"listen": &cfg.Listen, "external": &cfg.External, "admin": &cfg.Admin, "registration": &cfg.Registration, "profile": &cfg.Profile,
		"passphrase-file": &cfg.Passphrase, "log-format": &cfg.Log.Format, "log-level": &cfg.Log.Level,
	} {
		if c.has(name) {
			*p = c.str(name)
		}
	}
	cfg.Hosts = append(cfg.Hosts, c.strs("host")...)
	cfg.Ledger.Copies = append(cfg.Ledger.Copies, c.strs("checkpoint-copy")...)
}

// parseConfig reads a configuration file. Unknown keys and keys given twice
// fail.
func parseConfig(name string, raw []byte) (node.Config, error) {
	var cfg node.Config
	if err := yaml.UnmarshalWithOptions(raw, &cfg, yaml.Strict()); err != nil {
		what, _, _ := strings.Cut(yaml.FormatError(err, false, false), "\n")
		return cfg, usagef("%s: %s", name, what)
	}
	return cfg, nil
}

// envName is the variable that overrides a setting: PRATIQUE_ and its path in
// upper case. The data folder has none: it is named by --data or the file, since
// a process must not work on another folder than its command line shows.
func envName(path []string) string {
	return "PRATIQUE_" + strings.ToUpper(strings.Join(path, "_"))
}

// overrideConfig takes settings from the environment. Lists are separated by
// commas; maps and lists of objects are for the file.
func overrideConfig(cfg *node.Config, lookup func(string) (string, bool)) error {
	return eachSetting(reflect.ValueOf(cfg).Elem(), nil, func(path []string, v reflect.Value) error {
		if len(path) == 1 && path[0] == "data" {
			return nil
		}
		s, ok := lookup(envName(path))
		if !ok || s == "" {
			return nil
		}
		if err := setField(v, s); err != nil {
			return usagef("%s: %v", envName(path), err)
		}
		return nil
	})
}

// eachSetting visits every setting with its path.
func eachSetting(v reflect.Value, path []string, visit func([]string, reflect.Value) error) error {
	for i := range v.NumField() {
		at := append(path[:len(path):len(path)], strings.Split(v.Type().Field(i).Tag.Get("yaml"), ",")[0])
		f := v.Field(i)
		var err error
		if f.Kind() == reflect.Struct {
			err = eachSetting(f, at, visit)
		} else {
			err = visit(at, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settable reports whether the environment can set a field of this type.
func settable(t reflect.Type) bool {
	return t.Kind() == reflect.String || t.Kind() == reflect.Int || t.Kind() == reflect.Int64 || t.Kind() == reflect.Uint64 ||
		t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String
}

func setField(v reflect.Value, s string) error {
	switch {
	case v.Type() == reflect.TypeFor[time.Duration]():
		d, err := time.ParseDuration(s)
		if err != nil {
			return errors.New("want a time such as 15m")
		}
		v.SetInt(int64(d))
	case v.Kind() == reflect.String:
		v.SetString(s)
	case v.Kind() == reflect.Int:
		n, err := strconv.Atoi(s)
		if err != nil {
			return errors.New("want a number")
		}
		v.SetInt(int64(n))
	case v.Kind() == reflect.Uint64:
		n, err := strconv.ParseUint(s, 10, 63)
		if err != nil {
			return errors.New("want a number")
		}
		v.SetUint(n)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String:
		v.Set(reflect.ValueOf(strings.Split(s, ",")))
	default:
		return errors.New("this setting is for the configuration file")
	}
	return nil
}

// defaultData is the data folder where none is named: below the user's own data
// folder, never the working directory.
func defaultData() string {
	if d := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "pratique")
	}
	if h, err := os.UserHomeDir(); err == nil && h != "" {
		return filepath.Join(h, ".local", "share", "pratique")
	}
	return "pratique-data"
}

// makeParents makes the folders above the data folder; the node makes the folder
// itself, private.
func makeParents(data string) error {
	parent := filepath.Dir(filepath.Clean(data))
	if _, err := os.Stat(parent); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.MkdirAll(parent, 0o700)
}
